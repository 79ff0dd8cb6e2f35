package charter;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.LongFunction;
import java.util.function.ToLongFunction;
import java.util.regex.Pattern;

/** How values of one type of the charter are written as JSON, and read. */
public final class Codec<T> {
    /** The number in an argument that asks for one which the implementation never allotted. */
    public static final long NEVER_ISSUED = 999_999_999;

    /** The same for a text. */
    public static final String NEVER_ISSUED_TEXT = "never issued";

    /** Truth values; as keys of objects they are texts. */
    public static final Codec<Boolean> BOOL =
        new Codec<>(value -> value, value -> "true".equals(value.toString()));

    /** Integers. A constant that is absent is 0. */
    public static final Codec<Integer> INT =
        new Codec<>(value -> (long) value, value -> value == null ? 0 : ((Long) value).intValue());

    private static final Pattern OPAQUE_NUMBER = Pattern.compile("\"@(-?\\d+)\"");

    private final Function<T, Object> encoder;
    private final Function<Object, T> decoder;

    public Codec(Function<T, Object> encoder, Function<Object, T> decoder) {
        this.encoder = encoder;
        this.decoder = decoder;
    }

    public Object encode(T value) {
        return encoder.apply(value);
    }

    public T decode(Object value) {
        return decoder.apply(value);
    }

    /** Elements of a sort. */
    public static <T> Codec<T> name(Function<String, T> made, Function<T, String> name) {
        return new Codec<>(name::apply, value -> made.apply((String) value));
    }

    /** A counter. */
    public static <T> Codec<T> counter(LongFunction<T> made, ToLongFunction<T> number) {
        return new Codec<>(number::applyAsLong, value -> made.apply(numberIn(value)));
    }

    /** Numbers that the implementation allots. */
    public static <T> Codec<T> opaqueCounter(LongFunction<T> made, ToLongFunction<T> number) {
        return new Codec<>(
            value -> "@" + number.applyAsLong(value), value -> made.apply(numberIn(value)));
    }

    /** Texts that the implementation allots. */
    public static <T> Codec<T> opaque(Function<String, T> made, Function<T, String> text) {
        return new Codec<>(value -> "~" + text.apply(value), value -> made.apply(textIn(value)));
    }

    /** The members of an enum, by name. */
    public static <T extends Enum<T>> Codec<T> members(Class<T> type) {
        return new Codec<>(Enum::name, value -> Enum.valueOf(type, (String) value));
    }

    /** The members of an enum by the names in the charter, which Java has as keywords. */
    public static <T extends Enum<T>> Codec<T> members(Class<T> type, String... names) {
        List<String> texts = List.of(names);
        return new Codec<>(
            value -> texts.get(value.ordinal()),
            value -> type.getEnumConstants()[texts.indexOf((String) value)]);
    }

    /** An option. */
    public static <T> Codec<Optional<T>> option(Codec<T> inner) {
        return new Codec<>(
            value -> value.map(inner::encode).orElse(null),
            value -> Optional.ofNullable(value).map(inner::decode));
    }

    /** A sequence or a ranking. */
    public static <T> Codec<List<T>> list(Codec<T> inner) {
        return new Codec<>(
            values -> new ArrayList<>(values.stream().map(inner::encode).toList()),
            value -> Json.items(value).stream().map(inner::decode).toList());
    }

    /** A set. */
    public static <T> Codec<Set<T>> set(Codec<T> inner) {
        return new Codec<>(
            values -> sorted(values.stream().map(inner::encode).toList()),
            value -> new LinkedHashSet<>(list(inner).decode(value)));
    }

    /** A map whose keys are names or truth values. A sort that is absent is empty. */
    public static <K, V> Codec<Map<K, V>> map(Codec<K> key, Codec<V> inner) {
        return new Codec<>(
            values -> {
                Map<String, Object> made = new TreeMap<>();
                values.forEach((k, v) -> made.put(key.encode(k).toString(), inner.encode(v)));
                return made;
            },
            value -> {
                Map<K, V> made = new LinkedHashMap<>();
                Map<String, Object> fields = value == null ? Map.of() : Json.fields(value);
                fields.forEach((k, v) -> made.put(key.decode(k), inner.decode(v)));
                return made;
            });
    }

    /** A map with other keys. */
    public static <K, V> Codec<Map<K, V>> pairs(Codec<K> key, Codec<V> inner) {
        return new Codec<>(
            values -> {
                List<Object> made = new ArrayList<>();
                values.forEach((k, v) -> made.add(Arrays.asList(key.encode(k), inner.encode(v))));
                return sorted(made);
            },
            value -> {
                Map<K, V> made = new LinkedHashMap<>();
                for (Object pair : Json.items(value)) {
                    List<Object> two = Json.items(pair);
                    made.put(key.decode(two.get(0)), inner.decode(two.get(1)));
                }
                return made;
            });
    }

    /** A case of a union: its name, its class, and the codec of its parameters. */
    public record Case<T>(String name, Class<T> type, Codec<T> codec) {
        Object encode(Object value) {
            Map<String, Object> made = Json.fields(codec.encode(type.cast(value)));
            made.put("case", name);
            return made;
        }
    }

    /** A union. */
    @SafeVarargs
    public static <T> Codec<T> union(Case<? extends T>... cases) {
        return new Codec<>(
            value -> {
                for (Case<? extends T> one : cases) {
                    if (one.type().isInstance(value)) {
                        return one.encode(value);
                    }
                }
                throw new IllegalArgumentException(value + " is no case");
            },
            value -> {
                for (Case<? extends T> one : cases) {
                    if (one.name().equals(Json.fields(value).get("case"))) {
                        return one.codec().decode(value);
                    }
                }
                throw new IllegalArgumentException(value + " is no case");
            });
    }

    private static boolean isWish(Object value) {
        return value instanceof Map<?, ?> object && object.containsKey("never_issued");
    }

    private static long numberIn(Object value) {
        return isWish(value) ? NEVER_ISSUED : Long.parseLong(value.toString().replace("@", ""));
    }

    private static String textIn(Object value) {
        return isWish(value) ? NEVER_ISSUED_TEXT : ((String) value).substring(1);
    }

    /** The items in canonical order. Repeats stay: the judge tells them. */
    private static List<Object> sorted(List<Object> items) {
        List<Object> made = new ArrayList<>(items);
        made.sort(Comparator.comparing(Codec::orderKey));
        return made;
    }

    /** What sets and maps are sorted by: in canonical text, "@9" comes before "@10". */
    private static String orderKey(Object item) {
        BigInteger offset = BigInteger.TEN.pow(20);
        return OPAQUE_NUMBER.matcher(Json.write(item)).replaceAll(found ->
            String.format("\"@%021d\"", new BigInteger(found.group(1)).add(offset)));
    }
}

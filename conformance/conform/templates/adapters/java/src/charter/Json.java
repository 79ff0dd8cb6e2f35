package charter;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * JSON as objects of Java: {@code Map<String, Object>}, {@code List<Object>}, {@code String},
 * {@code Long}, {@code Boolean} and {@code null}.
 */
public final class Json {
    private final String text;
    private int position;

    private Json(String text) {
        this.text = text;
    }

    /** Reads one value. */
    public static Object read(String text) {
        Json reader = new Json(text);
        Object value = reader.value();
        reader.skipBlanks();
        if (reader.position < text.length()) {
            throw reader.unexpected();
        }
        return value;
    }

    /** The canonical text of a value: keys sorted, no spaces. */
    public static String write(Object value) {
        StringBuilder out = new StringBuilder();
        write(value, out);
        return out.toString();
    }

    /** An object of names and values that take turns. */
    public static Map<String, Object> object(Object... entries) {
        Map<String, Object> made = new TreeMap<>();
        for (int i = 0; i < entries.length; i += 2) {
            made.put((String) entries[i], entries[i + 1]);
        }
        return made;
    }

    /** A value that must be an object. */
    @SuppressWarnings("unchecked")
    public static Map<String, Object> fields(Object value) {
        return (Map<String, Object>) value;
    }

    /** A value that must be an array. */
    @SuppressWarnings("unchecked")
    public static List<Object> items(Object value) {
        return (List<Object>) value;
    }

    // --- reading

    private Object value() {
        skipBlanks();
        switch (peek()) {
            case '{':
                return object();
            case '[':
                return array();
            case '"':
                return string();
            case 't':
                return word("true", true);
            case 'f':
                return word("false", false);
            case 'n':
                return word("null", null);
            default:
                return number();
        }
    }

    private Map<String, Object> object() {
        Map<String, Object> made = new TreeMap<>();
        expect('{');
        if (accept('}')) {
            return made;
        }
        do {
            skipBlanks();
            String name = string();
            expect(':');
            made.put(name, value());
        } while (accept(','));
        expect('}');
        return made;
    }

    private List<Object> array() {
        List<Object> made = new ArrayList<>();
        expect('[');
        if (accept(']')) {
            return made;
        }
        do {
            made.add(value());
        } while (accept(','));
        expect(']');
        return made;
    }

    private String string() {
        StringBuilder made = new StringBuilder();
        expect('"');
        while (peek() != '"') {
            char next = text.charAt(position++);
            made.append(next == '\\' ? escaped() : next);
        }
        position++;
        return made.toString();
    }

    private char escaped() {
        char next = peek();
        position++;
        switch (next) {
            case 'n':
                return '\n';
            case 't':
                return '\t';
            case 'r':
                return '\r';
            case 'b':
                return '\b';
            case 'f':
                return '\f';
            case 'u':
                position += 4;
                return (char) Integer.parseInt(text.substring(position - 4, position), 16);
            default:
                return next;
        }
    }

    private Long number() {
        int start = position;
        while (position < text.length() && "-0123456789".indexOf(text.charAt(position)) >= 0) {
            position++;
        }
        if (start == position) {
            throw unexpected();
        }
        return Long.valueOf(text.substring(start, position));
    }

    private Object word(String word, Object value) {
        if (!text.startsWith(word, position)) {
            throw unexpected();
        }
        position += word.length();
        return value;
    }

    private char peek() {
        if (position >= text.length()) {
            throw unexpected();
        }
        return text.charAt(position);
    }

    private void skipBlanks() {
        while (position < text.length() && Character.isWhitespace(text.charAt(position))) {
            position++;
        }
    }

    private boolean accept(char wanted) {
        skipBlanks();
        boolean found = peek() == wanted;
        position += found ? 1 : 0;
        return found;
    }

    private void expect(char wanted) {
        if (!accept(wanted)) {
            throw unexpected();
        }
    }

    private IllegalArgumentException unexpected() {
        return new IllegalArgumentException("this is no JSON at position " + position);
    }

    // --- writing

    private static void write(Object value, StringBuilder out) {
        if (value instanceof Map<?, ?> object) {
            String separator = "{";
            for (var entry : new TreeMap<>(object).entrySet()) {
                out.append(separator);
                quote((String) entry.getKey(), out);
                out.append(':');
                write(entry.getValue(), out);
                separator = ",";
            }
            out.append(object.isEmpty() ? "{}" : "}");
        } else if (value instanceof List<?> array) {
            String separator = "[";
            for (Object item : array) {
                out.append(separator);
                write(item, out);
                separator = ",";
            }
            out.append(array.isEmpty() ? "[]" : "]");
        } else if (value instanceof String string) {
            quote(string, out);
        } else {
            out.append(value);
        }
    }

    private static void quote(String string, StringBuilder out) {
        out.append('"');
        for (char next : string.toCharArray()) {
            if (next == '"' || next == '\\') {
                out.append('\\').append(next);
            } else if (next < ' ') {
                out.append(String.format("\\u%04x", (int) next));
            } else {
                out.append(next);
            }
        }
        out.append('"');
    }
}

package org.apache.kafka.controller;

import org.apache.kafka.common.Uuid;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The arguments of one operation, with references resolved from what was shown before it. */
final class Arguments {
    /** Beyond every epoch that a controller allots in one question. */
    private static final long NEVER_ISSUED = 1L << 40;
    private static final int NEVER_REACHED = 1 << 30;
    private static final long NONE = -1;

    /** What a step showed, as parsed JSON. */
    interface Past {
        /** Its reply, else its observation; null for a step that was not yet reached. */
        Object shown(int step, boolean reply);
    }

    private final Map<String, Object> resolved = new HashMap<>();
    private final Names names;
    private final Past past;

    /** Resolves every reference, needed or not; one that leads nowhere is a Refusal. */
    Arguments(Map<?, ?> given, Names names, Past past) {
        this.names = names;
        this.past = past;
        given.forEach((name, value) -> resolved.put((String) name, resolve(value)));
    }

    int broker(String name) {
        return names.broker(required(name));
    }

    String topic(String name) {
        return names.topic(required(name));
    }

    List<Integer> brokers(String name) {
        return names.brokers(required(name));
    }

    boolean flag(String name) {
        return (Boolean) required(name);
    }

    String word(String name) {
        return (String) required(name);
    }

    /** A counter or another number. */
    int number(String name) {
        Object value = required(name);
        return isNeverIssued(value) ? NEVER_REACHED : ((Long) value).intValue();
    }

    /** A broker epoch; -1, Kafka's wildcard, for none. */
    long epoch(String name) {
        return epochOf(resolved.get(name));
    }

    /** The epoch of one broker in a map from brokers to epochs. */
    long epoch(String name, int broker) {
        for (Map.Entry<?, ?> entry : ((Map<?, ?>) required(name)).entrySet()) {
            if (names.broker(entry.getKey()) == broker) {
                return epochOf(entry.getValue());
            }
        }
        return NONE;
    }

    private long epochOf(Object value) {
        if (value == null) {
            return NONE;
        }
        return isNeverIssued(value) ? NEVER_ISSUED : parseEpoch((String) value);
    }

    Uuid topicId(String name) {
        Object value = required(name);
        return isNeverIssued(value) ? Names.neverIssuedTopicId() : names.topicId((String) value);
    }

    /** The number behind "@17". */
    static long parseEpoch(String text) {
        if (!text.startsWith("@")) {
            throw Refusal.error("a broker epoch is written \"@\" and a number, not " + text);
        }
        return Long.parseLong(text.substring(1));
    }

    private Object required(String name) {
        Object value = resolved.get(name);
        if (value == null) {
            throw Refusal.error("the argument " + name + " is missing");
        }
        return value;
    }

    private static boolean isNeverIssued(Object value) {
        return value instanceof Map<?, ?> form && form.containsKey("never_issued");
    }

    /** The value with what its references point at in their place. */
    private Object resolve(Object value) {
        if (value instanceof List<?> items) {
            return items.stream().map(this::resolve).toList();
        }
        if (!(value instanceof Map<?, ?> form) || isNeverIssued(value)) {
            return value;
        }
        if (form.get("ref") instanceof List<?> reference) {
            Object found = follow(reference, "reply".equals(form.get("in")));
            return form.get("plus") instanceof Long plus ? (Object) ((Long) found + plus) : found;
        }
        Map<Object, Object> members = new HashMap<>();
        form.forEach((key, member) -> members.put(key, resolve(member)));
        return members;
    }

    private Object follow(List<?> reference, boolean reply) {
        Object at = past.shown(((Long) reference.get(0)).intValue(), reply);
        for (Object key : reference.subList(1, reference.size())) {
            if (at instanceof Map<?, ?> members) {
                at = members.get(key);
            } else if (at instanceof List<?> items && key instanceof Long index && index < items.size()) {
                at = items.get(index.intValue());
            } else {
                at = null;
            }
        }
        if (at == null) {
            throw Refusal.unresolved(Json.write(reference) + " leads nowhere in what was shown");
        }
        return at;
    }
}

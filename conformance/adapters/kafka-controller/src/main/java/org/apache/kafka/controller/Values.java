package org.apache.kafka.controller;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The replies and observations of one run, each kept and sent once. */
final class Values {
    private final Map<String, Integer> indices = new HashMap<>();
    private final List<String> texts = new ArrayList<>();
    private final List<Object> parsed = new ArrayList<>();

    /** The index of a value given as canonical JSON. */
    int index(String text) {
        Integer known = indices.putIfAbsent(text, texts.size());
        if (known != null) {
            return known;
        }
        texts.add(text);
        parsed.add(null);
        return texts.size() - 1;
    }

    /** The value at an index; parsed once, for references into it. */
    Object parsed(int index) {
        Object value = parsed.get(index);
        if (value == null) {
            value = Json.parse(texts.get(index));
            parsed.set(index, value);
        }
        return value;
    }

    String text(int index) {
        return texts.get(index);
    }

    void appendTo(StringBuilder out) {
        out.append('[');
        for (int i = 0; i < texts.size(); i++) {
            out.append(i == 0 ? "" : ",").append(texts.get(i));
        }
        out.append(']');
    }
}

package org.apache.kafka.controller;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * JSON as the adapter protocol uses it: objects, arrays, strings, whole numbers, booleans and null.
 * A reader of its own, because no JSON library has the same version on the class path of every release.
 */
final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /** Objects become maps, arrays lists, numbers Long; a malformed text is an IllegalArgumentException. */
    static Object parse(String text) {
        Json reader = new Json(text);
        Object value = reader.value();
        reader.space();
        if (reader.at != text.length()) {
            throw reader.malformed("one value");
        }
        return value;
    }

    private Object value() {
        space();
        if (at >= text.length()) {
            throw malformed("a value");
        }
        switch (text.charAt(at)) {
            case '{':
                return object();
            case '[':
                return array();
            case '"':
                return string();
            case 't':
                return word("true", Boolean.TRUE);
            case 'f':
                return word("false", Boolean.FALSE);
            case 'n':
                return word("null", null);
            default:
                return number();
        }
    }

    private Map<String, Object> object() {
        Map<String, Object> members = new HashMap<>();
        at++;
        if (closes('}')) {
            return members;
        }
        do {
            space();
            String name = string();
            expect(':');
            members.put(name, value());
        } while (continues('}'));
        return members;
    }

    private List<Object> array() {
        List<Object> items = new ArrayList<>();
        at++;
        if (closes(']')) {
            return items;
        }
        do {
            items.add(value());
        } while (continues(']'));
        return items;
    }

    private String string() {
        if (at >= text.length() || text.charAt(at) != '"') {
            throw malformed("a string");
        }
        int start = ++at;
        while (at < text.length() && text.charAt(at) != '"' && text.charAt(at) != '\\') {
            at++;
        }
        if (at < text.length() && text.charAt(at) == '"') {
            return text.substring(start, at++);
        }
        StringBuilder out = new StringBuilder(text.substring(start, at));
        while (at < text.length() && text.charAt(at) != '"') {
            char next = text.charAt(at++);
            out.append(next == '\\' ? escaped() : next);
        }
        if (at >= text.length()) {
            throw malformed("the end of a string");
        }
        at++;
        return out.toString();
    }

    private char escaped() {
        if (at >= text.length()) {
            throw malformed("an escape");
        }
        char code = text.charAt(at++);
        switch (code) {
            case '"': case '\\': case '/':
                return code;
            case 'b':
                return '\b';
            case 'f':
                return '\f';
            case 'n':
                return '\n';
            case 'r':
                return '\r';
            case 't':
                return '\t';
            case 'u':
                if (at + 4 > text.length()) {
                    throw malformed("four hexadecimal digits");
                }
                at += 4;
                return (char) Integer.parseInt(text.substring(at - 4, at), 16);
            default:
                throw malformed("an escape");
        }
    }

    private Long number() {
        int start = at;
        if (at < text.length() && text.charAt(at) == '-') {
            at++;
        }
        while (at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9') {
            at++;
        }
        if (at == start) {
            throw malformed("a value");
        }
        return Long.parseLong(text.substring(start, at));
    }

    private Object word(String word, Object meaning) {
        if (!text.startsWith(word, at)) {
            throw malformed(word);
        }
        at += word.length();
        return meaning;
    }

    private void space() {
        while (at < text.length() && text.charAt(at) <= ' ') {
            at++;
        }
    }

    private void expect(char wanted) {
        space();
        if (at >= text.length() || text.charAt(at) != wanted) {
            throw malformed("'" + wanted + "'");
        }
        at++;
    }

    private boolean closes(char end) {
        space();
        if (at < text.length() && text.charAt(at) == end) {
            at++;
            return true;
        }
        return false;
    }

    private boolean continues(char end) {
        if (closes(end)) {
            return false;
        }
        expect(',');
        return true;
    }

    private IllegalArgumentException malformed(String wanted) {
        return new IllegalArgumentException("malformed JSON: expected " + wanted + " at character " + at);
    }

    /** Canonical text: keys sorted, no spaces. */
    static String write(Object value) {
        StringBuilder out = new StringBuilder();
        write(value, out);
        return out.toString();
    }

    private static void write(Object value, StringBuilder out) {
        if (value instanceof Map<?, ?> members) {
            char before = '{';
            for (Map.Entry<?, ?> member : new TreeMap<>(members).entrySet()) {
                out.append(before);
                quote((String) member.getKey(), out);
                write(member.getValue(), out.append(':'));
                before = ',';
            }
            out.append(before == '{' ? "{}" : "}");
        } else if (value instanceof Iterable<?> items) {
            char before = '[';
            for (Object item : items) {
                write(item, out.append(before));
                before = ',';
            }
            out.append(before == '[' ? "[]" : "]");
        } else if (value instanceof String text) {
            quote(text, out);
        } else {
            out.append(value);
        }
    }

    static String quote(String text) {
        StringBuilder out = new StringBuilder(text.length() + 2);
        quote(text, out);
        return out.toString();
    }

    private static void quote(String text, StringBuilder out) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < ' ') {
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }
}

package org.apache.kafka.controller;

import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.protocol.Errors;

import java.util.Map;
import java.util.TreeMap;

/**
 * The reviewed table from Kafka's error codes to the charter's words. An exception that extends
 * ApiException stands for its code; every other exception, and UNKNOWN_SERVER_ERROR, is a fault.
 */
final class Vocabulary {
    /** Codes whose word has another name; all others keep their own. */
    private static final Map<Errors, String> WORDS = Map.of(
        Errors.NOT_LEADER_OR_FOLLOWER, "NOT_LEADER",
        Errors.FEATURE_UPDATE_FAILED, "INVALID_FEATURE");

    /** In set_elr, Kafka says INVALID_UPDATE_VERSION of a feature level, not of a partition epoch. */
    private static final Map<Errors, String> FEATURE_WORDS = Map.of(Errors.INVALID_UPDATE_VERSION, "INVALID_FEATURE");

    private Vocabulary() {
    }

    static boolean isFault(Throwable thrown) {
        return !(thrown instanceof ApiException) || Errors.forException(thrown) == Errors.UNKNOWN_SERVER_ERROR;
    }

    /** Whether the adapter itself threw it, and not the controller: a broken question or a broken adapter. */
    static boolean isOurs(Throwable thrown) {
        for (StackTraceElement frame : thrown.getStackTrace()) {
            Class<?> type = Reflect.classOrNull(frame.getClassName());
            boolean ofTheJdk = type == null || type.getProtectionDomain().getCodeSource() == null;
            if (!ofTheJdk) {
                return type.getProtectionDomain().getCodeSource().equals(
                    Vocabulary.class.getProtectionDomain().getCodeSource());
            }
        }
        return false;
    }

    static String word(String operation, Errors code) {
        if (operation.equals("set_elr") && FEATURE_WORDS.containsKey(code)) {
            return FEATURE_WORDS.get(code);
        }
        return WORDS.getOrDefault(code, code.name());
    }

    /** The renamed entries, for the report: "CODE" or "operation CODE" to the word. */
    static Map<String, Object> table() {
        Map<String, Object> table = new TreeMap<>();
        WORDS.forEach((code, word) -> table.put(code.name(), word));
        FEATURE_WORDS.forEach((code, word) -> table.put("set_elr " + code.name(), word));
        return table;
    }
}

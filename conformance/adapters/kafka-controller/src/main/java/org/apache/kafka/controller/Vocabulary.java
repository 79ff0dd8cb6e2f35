package org.apache.kafka.controller;

import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.protocol.Errors;

import java.util.Map;

/**
 * The reviewed table from Kafka's error codes to the charter's words, as adapter.toml has it. Keys are a
 * code, or an operation, a slash and a code. An exception that extends ApiException stands for its code.
 * What the table does not list is a fault.
 */
final class Vocabulary {
    private final Map<?, ?> table;

    /** Null for no table: every code keeps its own name. */
    Vocabulary(Map<?, ?> table) {
        this.table = table;
    }

    /** The charter's word, or null for a fault. */
    String word(String operation, Throwable thrown) {
        if (!(thrown instanceof ApiException)) {
            return null;
        }
        String code = Errors.forException(thrown).name();
        if (table == null) {
            return code.equals("UNKNOWN_SERVER_ERROR") ? null : code;
        }
        Object special = table.get(operation + "/" + code);
        return (String) (special != null ? special : table.get(code));
    }

    /** How a fault is named: by Kafka's code where there is one, else by the class. */
    static String faultName(Throwable thrown) {
        boolean coded = thrown instanceof ApiException && Errors.forException(thrown) != Errors.UNKNOWN_SERVER_ERROR;
        return coded ? Errors.forException(thrown).name() : thrown.getClass().getName();
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
}

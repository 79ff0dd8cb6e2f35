package org.apache.kafka.controller;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The open sessions: questions whose operations come one by one, each with a controller of its own. */
final class Sessions {
    /** How many are held at once. */
    static final int MOST = 64;

    private final Map<Object, Question> open = new HashMap<>();

    void endAll() {
        open.clear();
    }

    /** Ends sessions, begins some and performs steps; appends the results of the last two. */
    void answer(Map<?, ?> message, Question.Target target, Values values, StringBuilder results) {
        ((List<?>) message.get("end")).forEach(open::remove);
        for (Object each : (List<?>) message.get("begin")) {
            Map<?, ?> begun = (Map<?, ?>) each;
            open.remove(begun.get("id"));
            if (open.size() < MOST) {
                open.put(begun.get("id"), new Question(begun, target, new Values()));
                advance(begun, List.of(), values, results);
            } else {
                refuse(begun, MOST + " sessions are open", results);
            }
        }
        for (Object each : (List<?>) message.get("steps")) {
            Map<?, ?> step = (Map<?, ?>) each;
            if (open.containsKey(step.get("id"))) {
                advance(step, List.of(step), values, results);
            } else {
                refuse(step, "no session " + step.get("id") + " is open", results);
            }
        }
    }

    private void advance(Map<?, ?> asked, List<?> operations, Values values, StringBuilder results) {
        Question question = open.get(asked.get("id"));
        results.append(results.length() == 0 ? "" : ",");
        question.answer(operations, values, results);
        if (question.isOver()) {
            open.remove(asked.get("id"));
        }
    }

    private static void refuse(Map<?, ?> asked, String detail, StringBuilder results) {
        results.append(results.length() == 0 ? "" : ",");
        Question.append(asked, "error", detail, "[]", results);
    }
}

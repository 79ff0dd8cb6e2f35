package org.apache.kafka.controller;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * One question put to a new controller, step by step. A session is one whose operations come in several
 * messages; it is over after a fault, and when it was refused.
 */
final class Question {
    private static final int NONE = -1;
    /** Operations after which another controller shows what it knows, with no record. */
    private static final Set<String> ANOTHER_CONTROLLER = Set.of("failover", "load_snapshot");

    private final Map<?, ?> asked;
    private final Target target;
    /** What was shown; the values of the message too, unless a session has its own for all of its messages. */
    private final Values known;
    private final List<Integer> replies = new ArrayList<>();
    private final List<Integer> observations = new ArrayList<>();
    private final Set<Integer> deltas = new HashSet<>();
    private boolean everyStep;
    private boolean imageFailed;
    private boolean over;
    private Names names;
    private Subject subject;
    private Values values;
    private StringBuilder steps;

    Question(Map<?, ?> asked, Target target, Values known) {
        this.asked = asked;
        this.target = target;
        this.known = known;
    }

    /** What is driven, and the words it is heard in. */
    record Target(Release release, Vocabulary vocabulary) { }

    boolean isOver() {
        return over;
    }

    /** Begins if it has not begun, performs operations, and appends the result, whatever happens. */
    void answer(List<?> operations, Values message, StringBuilder out) {
        values = message;
        steps = new StringBuilder("[");
        String status = "ok";
        String detail = "";
        try {
            run(operations);
        } catch (Refusal refusal) {
            status = refusal.status();
            detail = refusal.getMessage();
            over = true;
        } catch (RuntimeException | LinkageError broken) {
            status = "error";
            detail = broken + " at " + (broken.getStackTrace().length > 0 ? broken.getStackTrace()[0] : "?");
            over = true;
        }
        append(asked, status, detail, steps.append(']').toString(), out);
    }

    /** Appends the result of a question, or of a step of a session. */
    static void append(Map<?, ?> asked, String status, String detail, String steps, StringBuilder out) {
        out.append("{\"id\":").append(Json.write(asked.get("id")));
        out.append(",\"nonce\":").append(Json.write(asked.get("nonce")));
        out.append(",\"status\":\"").append(status);
        out.append("\",\"detail\":").append(Json.quote(detail));
        out.append(",\"steps\":").append(steps).append('}');
    }

    private void run(List<?> operations) {
        if (subject == null) {
            names = new Names((Map<?, ?>) asked.get("sorts"));
            subject = new Subject(target.release(), names);
            boundaries(asked.get("delta"));
            Loader.load(subject, (Map<?, ?>) asked.get("given"));
            record(NONE, true);
        }
        for (Object step : operations) {
            if (!run((Map<?, ?>) step)) {
                over = true;
                return;
            }
        }
    }

    private void boundaries(Object delta) {
        everyStep = delta == null || delta.equals("each");
        if (!everyStep) {
            ((List<?>) delta).forEach(step -> deltas.add(((Long) step).intValue()));
        }
    }

    /** Whether the question goes on after this step. */
    private boolean run(Map<?, ?> step) {
        String name = (String) step.get("operation");
        Operations.Operation operation = Operations.named(target.release(), name);
        Arguments arguments = new Arguments((Map<?, ?>) step.get("args"), names, this::shown);
        int before = subject.recordCount();
        try {
            String reply = operation.run(subject, arguments);
            record(known.index(reply), subject.recordCount() != before || ANOTHER_CONTROLLER.contains(name));
            return true;
        } catch (Refusal refusal) {
            throw refusal;
        } catch (RuntimeException thrown) {
            String word = target.vocabulary().word(name, thrown);
            if (word == null && Vocabulary.isOurs(thrown)) {
                throw thrown;
            }
            record(known.index(word == null ? fault(thrown) : rejected(word)), true);
            return word != null;
        }
    }

    private static String rejected(String word) {
        return "{\"case\":\"rejected\",\"error\":" + Json.quote(word) + "}";
    }

    private String fault(Throwable thrown) {
        return "{\"fault\":" + Json.quote(Vocabulary.faultName(thrown))
            + ",\"message\":" + Json.quote(names.withTokens(String.valueOf(thrown.getMessage()))) + "}";
    }

    private void record(int reply, boolean changed) {
        int step = observations.size();
        int observed = changed ? known.index(subject.observe()) : observations.get(step - 1);
        replies.add(reply);
        observations.add(observed);
        steps.append(steps.length() == 1 ? "[" : ",[").append(sent(reply)).append(',').append(sent(observed));
        steps.append(',').append(image(step)).append(']');
    }

    /** The index in this message of something that is known. */
    private int sent(int index) {
        return values == known || index == NONE ? index : values.index(known.text(index));
    }

    /** The index of what the broker's image shows at a boundary; what its image throws stands in its place, once. */
    private int image(int step) {
        boolean boundary = everyStep || deltas.contains(step);
        if (imageFailed || !boundary) {
            return NONE;
        }
        try {
            return values.index(subject.observeImage());
        } catch (Refusal refusal) {
            throw refusal;
        } catch (RuntimeException thrown) {
            imageFailed = true;
            return values.index(fault(thrown));
        }
    }

    private Object shown(int step, boolean reply) {
        List<Integer> indices = reply ? replies : observations;
        int index = step < indices.size() ? indices.get(step) : NONE;
        return index == NONE ? null : known.parsed(index);
    }
}

package org.apache.kafka.controller;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** One question put to a new controller, step by step. */
final class Question {
    private static final int NONE = -1;

    private final Map<?, ?> asked;
    private final Vocabulary vocabulary;
    private final Values values;
    private final Names names;
    private final Subject subject;
    private final List<Integer> replies = new ArrayList<>();
    private final List<Integer> observations = new ArrayList<>();
    private final StringBuilder steps = new StringBuilder("[");
    private boolean everyStep;
    private final Set<Integer> deltas = new HashSet<>();
    private boolean imageFailed;

    private Question(Map<?, ?> asked, Target target, Values values) {
        this.asked = asked;
        this.vocabulary = target.vocabulary();
        this.values = values;
        this.names = new Names((Map<?, ?>) asked.get("sorts"));
        this.subject = new Subject(target.release(), names);
    }

    /** What is driven, and the words it is heard in. */
    record Target(Release release, Vocabulary vocabulary) { }

    /** Appends the result of the question, whatever happens to it. */
    static void answer(Map<?, ?> asked, Target target, Values values, StringBuilder out) {
        String status = "ok";
        String detail = "";
        String steps = "[]";
        Question question = null;
        try {
            question = new Question(asked, target, values);
            question.run();
        } catch (Refusal refusal) {
            status = refusal.status();
            detail = refusal.getMessage();
        } catch (RuntimeException | LinkageError broken) {
            status = "error";
            detail = broken + " at " + (broken.getStackTrace().length > 0 ? broken.getStackTrace()[0] : "?");
        }
        if (question != null) {
            steps = question.steps.append(']').toString();
        }
        out.append("{\"id\":").append(Json.write(asked.get("id")));
        out.append(",\"nonce\":").append(Json.write(asked.get("nonce")));
        out.append(",\"status\":\"").append(status);
        out.append("\",\"detail\":").append(Json.quote(detail));
        out.append(",\"steps\":").append(steps).append('}');
    }

    private void run() {
        boundaries(asked.get("delta"));
        Loader.load(subject, (Map<?, ?>) asked.get("given"));
        record(NONE, true);
        for (Object step : (List<?>) asked.get("operations")) {
            if (!run((Map<?, ?>) step)) {
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
        Operations.Operation operation = Operations.named(name);
        Arguments arguments = new Arguments((Map<?, ?>) step.get("args"), names, this::shown);
        int before = subject.recordCount();
        try {
            String reply = operation.run(subject, arguments);
            record(values.index(reply), subject.recordCount() != before || name.equals("failover"));
            return true;
        } catch (Refusal refusal) {
            throw refusal;
        } catch (RuntimeException thrown) {
            String word = vocabulary.word(name, thrown);
            if (word == null && Vocabulary.isOurs(thrown)) {
                throw thrown;
            }
            record(values.index(word == null ? fault(thrown) : rejected(word)), true);
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
        int observed = changed ? values.index(subject.observe()) : observations.get(step - 1);
        replies.add(reply);
        observations.add(observed);
        steps.append(step == 0 ? "[" : ",[").append(reply).append(',').append(observed);
        steps.append(',').append(image(step)).append(']');
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
        return index == NONE ? null : values.parsed(index);
    }
}

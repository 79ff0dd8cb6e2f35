package org.apache.kafka.controller;

import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/**
 * Adapter protocol v1 over stdin and stdout for the controller of the Kafka release on the class path.
 *
 * <p>With --one it reads one question and tells people what happened; with --check it only builds a controller
 * and says its release. --experimental-elr switches ELR on in 3.7 to 3.9, and --metadata-version is that of
 * a cluster that began with an earlier release.
 */
public final class Adapter {
    private static final int BUFFER = 1 << 16;

    private Adapter() {
    }

    public static void main(String[] options) throws IOException {
        OutputStream out = new BufferedOutputStream(new FileOutputStream(FileDescriptor.out), BUFFER);
        System.setOut(System.err);
        List<String> asked = List.of(options);
        try {
            Release release = Release.find(asked.contains("--experimental-elr"), valueOf("--metadata-version", asked));
            BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8), BUFFER);
            if (asked.contains("--check")) {
                new Managers(release).activate();
                write(out, release.version());
            } else if (asked.contains("--one")) {
                write(out, one(release, in.lines().reduce("", (text, line) -> text + line + "\n")));
            } else {
                converse(release, in, out);
            }
        } catch (Refusal refusal) {
            System.err.println(refusal.getMessage());
            System.exit(2);
        }
    }

    private static String valueOf(String option, List<String> asked) {
        int at = asked.indexOf(option);
        return at < 0 ? "" : asked.get(at + 1);
    }

    private static void converse(Release release, BufferedReader in, OutputStream out) throws IOException {
        Question.Target target = new Question.Target(release, new Vocabulary(Map.of()));
        Sessions sessions = new Sessions();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            Map<?, ?> message = (Map<?, ?>) Json.parse(line);
            if (message.containsKey("bye")) {
                return;
            } else if (message.containsKey("hello")) {
                Object errors = message.get("errors");
                target = new Question.Target(release, new Vocabulary(errors == null ? Map.of() : (Map<?, ?>) errors));
                write(out, hello(release));
            } else {
                write(out, run(target, sessions, message));
            }
        }
    }

    private static String hello(Release release) {
        return "{\"hello\":1,\"name\":\"kafka-controller\",\"version\":" + Json.quote(release.version())
            + ",\"component\":\"controller\",\"capabilities\":" + Json.write(release.capabilities())
            + ",\"operations\":" + Json.write(Operations.names(release))
            + ",\"observes\":[\"config\",\"partition\",\"registration\"],\"sessions\":" + Sessions.MOST + "}";
    }

    private static String run(Question.Target target, Sessions sessions, Map<?, ?> message) {
        Values values = new Values();
        StringBuilder results = new StringBuilder();
        if (message.containsKey("questions")) {
            sessions.endAll();
            for (Object each : (List<?>) message.get("questions")) {
                Map<?, ?> question = (Map<?, ?>) each;
                results.append(results.length() == 0 ? "" : ",");
                new Question(question, target, values).answer((List<?>) question.get("operations"), values, results);
            }
        } else {
            sessions.answer(message, target, values, results);
        }
        StringBuilder out = new StringBuilder("{\"run\":").append(Json.write(message.get("run"))).append(",\"values\":");
        values.appendTo(out);
        return out.append(",\"results\":[").append(results).append("]}").toString();
    }

    /** The answer to one question for people: what was done, the reply, the state, the broker's image. */
    private static String one(Release release, String text) {
        Map<?, ?> question = (Map<?, ?>) Json.parse(text);
        Values values = new Values();
        StringBuilder result = new StringBuilder();
        Question.Target target = new Question.Target(release, new Vocabulary(null));
        new Question(question, target, values).answer((List<?>) question.get("operations"), values, result);
        Map<?, ?> answer = (Map<?, ?>) Json.parse(result.toString());
        StringBuilder out = new StringBuilder();
        List<?> operations = (List<?>) question.get("operations");
        int number = 0;
        for (Object step : (List<?>) answer.get("steps")) {
            out.append(number).append(' ').append(number == 0 ? "start" : Json.write(operations.get(number - 1)));
            for (Object index : (List<?>) step) {
                int at = ((Long) index).intValue();
                out.append("\n    ").append(at < 0 ? "-" : values.text(at));
            }
            out.append('\n');
            number++;
        }
        return out.append(answer.get("status")).append(' ').append(answer.get("detail")).toString();
    }

    private static void write(OutputStream out, String line) throws IOException {
        out.write(line.getBytes(StandardCharsets.UTF_8));
        out.write('\n');
        out.flush();
    }
}

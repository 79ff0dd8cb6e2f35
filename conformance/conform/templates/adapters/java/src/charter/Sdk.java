package charter;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * The adapter's side of the adapter protocol: reads the judge's questions from stdin, calls the
 * adapter that you write, and answers on stdout with what was observed.
 *
 * <p>Sdk, Codec and Json are the same for every charter; Protocol has the types of yours, and is
 * written anew by {@code conform generate --adapter java}.
 */
public final class Sdk {
    private static final Long VERSION = 1L;

    /** The fields of a reference; a record of the charter may have a field "ref" beside others. */
    private static final Set<String> REFERENCE = Set.of("ref", "plus", "in");

    private Sdk() {}

    /**
     * What hello says about the adapter.
     *
     * @param capabilities "load" if start can load a given state, "image" if there is an image
     * @param consts the constants that start configures the implementation with
     */
    public record About(
        String name,
        String version,
        List<String> capabilities,
        List<String> operations,
        List<String> observes,
        List<String> consts) {}

    /** What the judge says first; {@code errors} is the table [errors] of adapter.toml. */
    public record Hello(String release, String variant, Map<String, Object> errors) {}

    /**
     * An operation throws it if the implementation failed in a way that the charter does not name.
     * It ends the question.
     */
    public static final class Fault extends RuntimeException {
        private final String name;

        public Fault(String name, String message) {
            super(message);
            this.name = name;
        }

        /** The failure of an implementation that threw an exception. */
        public Fault(Throwable cause) {
            super(String.valueOf(cause.getMessage()), cause);
            this.name = cause.getClass().getName();
        }
    }

    /** Thrown for what the adapter cannot do: the operation or capability. */
    public static final class Unsupported extends RuntimeException {
        public Unsupported(String what) {
            super(what);
        }
    }

    /** Thrown by start if the given state did not come back. */
    public static final class NotLoadable extends RuntimeException {
        public NotLoadable(String why) {
            super(why);
        }
    }

    /** A reference leads to no value in the observations. */
    private static final class Dangling extends RuntimeException {
        Dangling(String why) {
            super(why);
        }
    }

    /** The adapter as the loop sees it: Protocol implements it. */
    interface Component {
        String name();

        void hello(Hello hello) throws Exception;

        void start(Map<String, Object> question) throws Exception;

        Object perform(String operation, Map<String, Object> args) throws Exception;

        Object observe() throws Exception;

        Object image() throws Exception;
    }

    /** Answers the judge until it says bye or stdin ends, with so many sessions at once. */
    static void serve(About about, Supplier<Component> make, int sessions) throws Exception {
        Server server = new Server(about, make, sessions);
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        OutputStream out = System.out;
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            Map<String, Object> message = Json.fields(Json.read(line));
            if (message.containsKey("bye")) {
                return;
            }
            String answer = Json.write(server.answer(message)) + "\n";
            out.write(answer.getBytes(StandardCharsets.UTF_8));
            out.flush();
        }
    }

    /** Components are idle, or each has an open session. */
    private static final class Server {
        final About about;
        private final Supplier<Component> make;
        private final int sessions;
        private final ArrayDeque<Component> idle = new ArrayDeque<>();
        private final Map<Object, Execution> open = new HashMap<>();
        private Hello greeting = new Hello("", "", Map.of());

        Server(About about, Supplier<Component> make, int sessions) {
            this.about = about;
            this.make = make;
            this.sessions = sessions;
            idle.push(make.get());
        }

        Object answer(Map<String, Object> message) throws Exception {
            if (!message.containsKey("hello")) {
                return run(message);
            }
            if (!message.get("hello").equals(VERSION)) {
                return Json.object("hello", VERSION);
            }
            greeting = new Hello(
                (String) message.getOrDefault("release", ""),
                (String) message.getOrDefault("variant", ""),
                Json.fields(message.getOrDefault("errors", Map.of())));
            idle.peek().hello(greeting);
            var asked = Json.fields(message.getOrDefault("consts", Map.of()));
            return Json.object(
                "hello", VERSION,
                "name", about.name(),
                "version", about.version(),
                "component", idle.peek().name(),
                "capabilities", about.capabilities(),
                "operations", about.operations(),
                "observes", about.observes(),
                "consts", about.consts().stream().filter(asked::containsKey).toList(),
                "sessions", (long) sessions);
        }

        Object run(Map<String, Object> message) throws Exception {
            Shared shared = new Shared();
            List<Object> results = new ArrayList<>();
            if (message.containsKey("questions")) {
                end(List.copyOf(open.keySet()));
            }
            for (Object each : listed(message, "questions")) {
                Map<String, Object> question = Json.fields(each);
                Execution execution = new Execution(this, idle.peek(), question);
                results.add(execution.answer(shared, listed(question, "operations")));
            }
            end(listed(message, "end"));
            for (Object each : listed(message, "begin")) {
                results.add(begin(Json.fields(each), shared));
            }
            for (Object each : listed(message, "steps")) {
                results.add(step(Json.fields(each), shared));
            }
            return Json.object(
                "run", message.get("run"), "values", shared.values, "results", results);
        }

        private static List<Object> listed(Map<String, Object> message, String field) {
            return Json.items(message.getOrDefault(field, List.of()));
        }

        /** Opens a session; the result has its first state. */
        private Object begin(Map<String, Object> question, Shared shared) throws Exception {
            Object id = question.get("id");
            end(List.of(id));
            if (open.size() >= sessions) {
                return result(question, "error", sessions + " sessions are open", List.of());
            }
            if (idle.isEmpty()) {
                Component made = make.get();
                made.hello(greeting);
                idle.push(made);
            }
            Execution execution = new Execution(this, idle.pop(), question);
            open.put(id, execution);
            return endIfOver(execution, execution.answer(shared, List.of()));
        }

        /** Performs one operation of a session. */
        private Object step(Map<String, Object> step, Shared shared) {
            Execution execution = open.get(step.get("id"));
            if (execution == null) {
                String detail = "no session " + step.get("id") + " is open";
                return result(step, "error", detail, List.of());
            }
            return endIfOver(execution, execution.answer(shared, List.of(step)));
        }

        private Object endIfOver(Execution execution, Object result) {
            if (execution.over) {
                end(List.of(execution.question.get("id")));
            }
            return result;
        }

        /** Ends those of these sessions that are open. */
        private void end(List<Object> ids) {
            for (Object id : ids) {
                Execution ended = open.remove(id);
                if (ended != null) {
                    idle.push(ended.component);
                }
            }
        }
    }

    private static Object result(
            Map<String, Object> question, String status, String detail, List<Object> steps) {
        return Json.object(
            "id", question.get("id"),
            "nonce", question.get("nonce"),
            "status", status,
            "detail", detail,
            "steps", steps);
    }

    /** The values of a batch, each once. */
    private static final class Shared {
        final List<Object> values = new ArrayList<>();
        private final Map<String, Long> indices = new HashMap<>();

        Long add(Object value) {
            String text = Json.write(value);
            if (!indices.containsKey(text)) {
                indices.put(text, (long) values.size());
                values.add(value);
            }
            return indices.get(text);
        }
    }

    /** A question or a session, and what was observed so far: over after a fault or an error. */
    private static final class Execution {
        private final About about;
        private final Component component;
        private final Map<String, Object> question;
        private final List<Object> observations = new ArrayList<>();
        private final List<Object> replies = new ArrayList<>();
        private List<Object> steps = List.of();
        private Shared shared;
        private boolean over;

        Execution(Server server, Component component, Map<String, Object> question) {
            this.about = server.about;
            this.component = component;
            this.question = question;
        }

        /** Begins if it has not begun, and performs operations. What goes wrong affects no other. */
        Object answer(Shared shared, List<Object> calls) {
            this.shared = shared;
            this.steps = new ArrayList<>();
            try {
                performAll(calls);
                return result(question, "ok", "", steps);
            } catch (Dangling error) {
                return refuse("unresolved", error.getMessage(), steps);
            } catch (Unsupported error) {
                return refuse("unsupported", error.getMessage(), List.of());
            } catch (NotLoadable error) {
                return refuse("not_loadable", error.getMessage(), List.of());
            } catch (Throwable error) {  // also an Error, such as a failed assertion
                boolean ends = error instanceof VirtualMachineError;
                if (ends && !(error instanceof StackOverflowError)) {
                    throw (VirtualMachineError) error;
                }
                error.printStackTrace();
                return refuse("error", error + placeOf(error), List.of());
            }
        }

        private Object refuse(String status, String detail, List<Object> steps) {
            over = true;
            return result(question, status, detail, steps);
        }

        /** Where the adapter or its implementation threw: " (Main.java:12)", or "". */
        private static String placeOf(Throwable error) {
            for (StackTraceElement frame : error.getStackTrace()) {
                String type = frame.getClassName();
                boolean own = !type.matches("(charter|java|jdk|sun)\\..*");
                if (own && frame.getFileName() != null) {
                    return " (" + frame.getFileName() + ":" + frame.getLineNumber() + ")";
                }
            }
            return "";
        }

        private void performAll(List<Object> calls) throws Exception {
            if (replies.isEmpty()) {
                component.start(question);
                replies.add(null);
                observe(-1L);
            }
            for (Object each : calls) {
                Map<String, Object> call = Json.fields(each);
                var args = Json.fields(resolved(call.get("args")));
                Object reply;
                try {
                    reply = component.perform((String) call.get("operation"), args);
                } catch (Fault fault) {
                    Object shown = Json.object("fault", fault.name, "message", fault.getMessage());
                    steps.add(List.of(shared.add(shown), -1L, -1L));
                    over = true;
                    return;
                }
                replies.add(reply);
                observe(shared.add(reply));
            }
        }

        /** Adds the step of a reply. */
        private void observe(Long reply) throws Exception {
            Object observation = shown(component.observe());
            Object delta = question.get("delta");
            boolean wanted = delta.equals("each")
                || delta instanceof List<?> listed && listed.contains((long) observations.size());
            Long image = -1L;
            if (wanted && about.capabilities().contains("image")) {
                image = shared.add(shown(component.image()));
            }
            observations.add(observation);
            steps.add(List.of(reply, shared.add(observation), image));
        }

        /** The variables that hello named. */
        private Object shown(Object observation) {
            Map<String, Object> made = new TreeMap<>(Json.fields(observation));
            made.keySet().retainAll(about.observes());
            return made;
        }

        /** A value with each reference replaced by what stands there. */
        private Object resolved(Object value) {
            if (value instanceof List<?> items) {
                List<Object> made = new ArrayList<>();
                items.forEach(item -> made.add(resolved(item)));
                return made;
            }
            if (!(value instanceof Map<?, ?>)) {
                return value;
            }
            Map<String, Object> fields = Json.fields(value);
            boolean refers = REFERENCE.containsAll(fields.keySet());
            if (refers && fields.get("ref") instanceof List<?> path) {
                List<Object> shown = "reply".equals(fields.get("in")) ? replies : observations;
                return lookUp(path, (Long) fields.getOrDefault("plus", 0L), shown);
            }
            Map<String, Object> made = new TreeMap<>();
            fields.forEach((name, part) -> made.put(name, resolved(part)));
            return made;
        }

        /** What stands at a path: the number of a step, then keys and positions. */
        private Object lookUp(List<?> path, long plus, List<Object> shown) {
            Object value = shown;
            for (Object part : path) {
                value = descend(value, part);
            }
            if (value == null) {
                throw new Dangling("nothing stands at " + path);
            }
            if (plus == 0) {
                return value;
            }
            if (value instanceof Long number) {
                return number + plus;
            }
            throw new Dangling(path + " is no number");
        }

        private static Object descend(Object value, Object part) {
            if (value instanceof Map<?, ?> object) {
                return object.get(part);
            }
            boolean inside = value instanceof List<?> array
                && part instanceof Long index
                && 0 <= index
                && index < array.size();
            return inside ? ((List<?>) value).get(((Long) part).intValue()) : null;
        }
    }
}

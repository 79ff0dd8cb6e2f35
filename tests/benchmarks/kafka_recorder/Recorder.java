package org.apache.kafka.controller;

import com.fasterxml.jackson.databind.ObjectMapper;
import net.bytebuddy.agent.builder.AgentBuilder;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.implementation.bytecode.assign.Assigner;
import net.bytebuddy.matcher.ElementMatchers;

import java.io.PrintStream;
import java.lang.instrument.Instrumentation;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;

/**
 * An agent that writes each call of an operation of the controller's managers into a file: the state
 * before it, the request, and how it ended. A call inside another one is part of that one.
 */
public final class Recorder {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String MANAGERS = "org.apache.kafka.controller.";
    private static final Map<Object, ReplicationControlManager> REPLICATION =
        Collections.synchronizedMap(new WeakHashMap<>());
    private static final ThreadLocal<int[]> DEPTH = ThreadLocal.withInitial(() -> new int[1]);
    private static PrintStream out;

    private Recorder() {
    }

    /** The argument is the file that calls are written to. */
    public static void premain(String file, Instrumentation instrumentation) throws Exception {
        out = new PrintStream(file, StandardCharsets.UTF_8);
        AgentBuilder agent = new AgentBuilder.Default().disableClassFormatChanges();
        agent = watch(agent, "ReplicationControlManager", "processBrokerHeartbeat", "alterPartition", "electLeaders",
            "alterPartitionReassignments", "createTopics", "deleteTopics", "unregisterBroker",
            "maybeFenceOneStaleBroker", "maybeBalancePartitionLeaders", "maybeElectUncleanLeaders",
            "handleBrokerFenced", "handleBrokerUnregistered", "handleBrokerUnfenced",
            "handleBrokerInControlledShutdown", "handleBrokerShutdown", "createPartitions",
            "handleAssignReplicasToDirs");
        agent = watch(agent, "ClusterControlManager", "registerBroker", "activate");
        agent = watch(agent, "ConfigurationControlManager", "incrementalAlterConfigs", "incrementalAlterConfig",
            "legacyAlterConfigs", "updateFeatures");
        agent = watch(agent, "FeatureControlManager", "updateFeatures");
        agent.type(ElementMatchers.named(MANAGERS + "ReplicationControlManager"))
            .transform((builder, type, loader, module, domain) ->
                builder.visit(Advice.to(Made.class).on(ElementMatchers.isConstructor())))
            .installOn(instrumentation);
    }

    private static AgentBuilder watch(AgentBuilder agent, String manager, String... operations) {
        return agent.type(ElementMatchers.named(MANAGERS + manager))
            .transform((builder, type, loader, module, domain) -> builder.visit(Advice.to(Operation.class)
                .on(ElementMatchers.namedOneOf(operations).and(ElementMatchers.not(ElementMatchers.isStatic())))));
    }

    /** Put around each operation. */
    static final class Operation {
        @Advice.OnMethodEnter
        static Object enter(
            @Advice.This Object manager, @Advice.Origin("#m") String method, @Advice.AllArguments Object[] arguments
        ) {
            return Recorder.begin(manager, method, arguments);
        }

        @Advice.OnMethodExit(onThrowable = Throwable.class)
        static void exit(
            @Advice.Enter Object begun,
            @Advice.Return(readOnly = true, typing = Assigner.Typing.DYNAMIC) Object result,
            @Advice.Thrown(readOnly = true, typing = Assigner.Typing.DYNAMIC) Throwable thrown
        ) {
            Recorder.end(begun, result, thrown);
        }
    }

    /** Put behind the constructor of the manager that knows the others. */
    static final class Made {
        @Advice.OnMethodExit
        static void exit(@Advice.This Object manager) {
            Recorder.made(manager);
        }
    }

    public static void made(Object manager) {
        for (String other : List.of("clusterControl", "configurationControl", "featureControl")) {
            Object found = Before.field(manager, other);
            if (found != null) {
                REPLICATION.put(found, (ReplicationControlManager) manager);
            }
        }
    }

    /** What is known before a call; null inside another one. */
    public static Object begin(Object manager, String method, Object[] arguments) {
        if (DEPTH.get()[0]++ > 0) {
            return null;
        }
        Map<String, Object> call = new LinkedHashMap<>();
        call.put("method", method);
        try {
            call.put("before", Before.of(manager, REPLICATION.get(manager)));
            call.put("request", Requests.of(method, arguments));
        } catch (Throwable unread) {
            call.put("unread", unread.toString());
        }
        return call;
    }

    /** Writes a call with its end. */
    @SuppressWarnings("unchecked")
    public static void end(Object begun, Object result, Throwable thrown) {
        DEPTH.get()[0]--;
        if (begun == null) {
            return;
        }
        Map<String, Object> call = (Map<String, Object>) begun;
        try {
            call.put("thrown", thrown == null ? "" : thrown.getClass().getSimpleName());
            call.put("done", Requests.records(result));
            String line = JSON.writeValueAsString(call);
            synchronized (out) {
                out.println(line);
            }
        } catch (Exception unwritten) {
            out.println("{\"method\":\"" + call.get("method") + "\",\"unread\":\"not written\"}");
        }
    }
}

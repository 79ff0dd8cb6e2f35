package org.apache.kafka.controller;

import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.FeatureUpdate;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.ApiError;

import java.util.AbstractMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;

/** The operations of the charter's controller by name, and what they share. */
final class Operations {
    static final String DONE = "{\"case\":\"done\"}";
    static final String UNCLEAN_TASK = "maybeElectUncleanLeaders";
    private static final String SET_ELR = "set_elr";
    private static final int MANY = 1000;

    /** Answers the reply as canonical JSON; throws what the controller throws. */
    interface Operation {
        String run(Subject subject, Arguments arguments);
    }

    private static final Map<String, Operation> BY_NAME = byName();

    private Operations() {
    }

    private static Map<String, Operation> byName() {
        Map<String, Operation> table = new TreeMap<>();
        table.put("register", BrokerOperations::register);
        table.put("heartbeat", BrokerOperations::heartbeat);
        table.put("session_expires", BrokerOperations::sessionExpires);
        table.put("session_ends", BrokerOperations::sessionEnds);
        table.put("unregister", BrokerOperations::unregister);
        table.put("alter_partition", PartitionOperations::alterPartition);
        table.put("elect_leader", PartitionOperations::electLeader);
        table.put("balance_leaders", PartitionOperations::balanceLeaders);
        if (Reflect.has(ReplicationControlManager.class, UNCLEAN_TASK)) {
            table.put("elect_uncleanly", PartitionOperations::electUncleanly);
        }
        table.put("reassign", PartitionOperations::reassign);
        table.put("cancel_reassignment", PartitionOperations::cancelReassignment);
        table.put("create_topic", PartitionOperations::createTopic);
        table.put("delete_topic", PartitionOperations::deleteTopic);
        table.put("set_min_isr", (subject, arguments) ->
            configure(subject, Release.MIN_ISR, Integer.toString(arguments.number("minimum"))));
        table.put("set_unclean_election", (subject, arguments) ->
            configure(subject, Release.UNCLEAN, Boolean.toString(arguments.flag("enabled"))));
        table.put(SET_ELR, Operations::setElr);
        table.put("failover", (subject, arguments) -> {
            subject.failover();
            return DONE;
        });
        if (BrokerImage.writesSnapshots()) {
            table.put("load_snapshot", (subject, arguments) -> {
                subject.loadSnapshot();
                return DONE;
            });
        }
        return table;
    }

    static Iterable<String> names(Release release) {
        return BY_NAME.keySet().stream().filter(name -> offers(release, name)).toList();
    }

    /** Experimental ELR is a switch of the controller, which no request turns. */
    private static boolean offers(Release release, String name) {
        return !release.experimentalElr() || !name.equals(SET_ELR);
    }

    static Operation named(Release release, String name) {
        Operation found = offers(release, name) ? BY_NAME.get(name) : null;
        if (found == null) {
            throw Refusal.unsupported(name);
        }
        return found;
    }

    private static String configure(Subject subject, String setting, String value) {
        Object changes = Map.of(Observation.CLUSTER_LEVEL,
            Map.of(setting, new AbstractMap.SimpleImmutableEntry<>(AlterConfigOp.OpType.SET, value)));
        ConfigurationControlManager configs = subject.managers().configs;
        ControllerResult<?> result = (ControllerResult<?>) (
            Reflect.arity(ConfigurationControlManager.class, "incrementalAlterConfigs") == 2
                ? Reflect.call(configs, "incrementalAlterConfigs", changes, false)
                : Reflect.call(configs, "incrementalAlterConfigs", changes, false, false));
        subject.commit(result.records());
        check((ApiError) ((Map<?, ?>) result.response()).get(Observation.CLUSTER_LEVEL));
        return DONE;
    }

    private static String setElr(Subject subject, Arguments arguments) {
        boolean enabled = arguments.flag("enabled");
        Map<String, Short> updates = Map.of(Release.ELR_FEATURE, (short) (enabled ? 1 : 0));
        Map<String, FeatureUpdate.UpgradeType> types = Map.of(Release.ELR_FEATURE,
            enabled ? FeatureUpdate.UpgradeType.UPGRADE : FeatureUpdate.UpgradeType.SAFE_DOWNGRADE);
        ControllerResult<?> result = updateFeatures(subject.managers(), updates, types);
        subject.commit(result.records());
        Object answer = result.response();
        check((ApiError) (answer instanceof Map<?, ?> errors ? errors.get(Release.ELR_FEATURE) : answer));
        return DONE;
    }

    private static ControllerResult<?> updateFeatures(Managers managers, Object updates, Object types) {
        String name = "updateFeatures";
        ConfigurationControlManager configs = managers.configs;
        FeatureControlManager features = managers.features;
        return (ControllerResult<?>) switch (Reflect.arity(ConfigurationControlManager.class, name)) {
            case 3 -> Reflect.call(configs, name, updates, types, false);
            case 4 -> Reflect.call(configs, name, updates, types, false, 0);
            default -> Reflect.arity(FeatureControlManager.class, name) == 3
                ? Reflect.call(features, name, updates, types, false)
                : Reflect.call(features, name, updates, types, Map.of(), false);
        };
    }

    /** A periodic task of the controller, run until it says that nothing is left. */
    static String repeat(Subject subject, Supplier<ControllerResult<Boolean>> task) {
        for (int i = 0; i < MANY; i++) {
            ControllerResult<Boolean> result = task.get();
            subject.commit(result.records());
            if (!result.response()) {
                return DONE;
            }
        }
        throw new IllegalStateException("the controller repeats a periodic task without end");
    }

    static void check(ApiError error) {
        check(error.error().code(), error.message());
    }

    /** Turns an error code of a response into its exception. */
    static void check(short code, String message) {
        if (code != Errors.NONE.code()) {
            throw message == null ? Errors.forCode(code).exception() : Errors.forCode(code).exception(message);
        }
    }
}

package org.apache.kafka.controller;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.metadata.BrokerRegistration;
import org.apache.kafka.metadata.LeaderRecoveryState;
import org.apache.kafka.metadata.PartitionRegistration;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;

/** The state of the managers, as far as the charter has it. */
final class Before {
    private static final ConfigResource CLUSTER = new ConfigResource(ConfigResource.Type.BROKER, "");
    private static final String MIN_ISR = "min.insync.replicas";
    private static final String UNCLEAN = "unclean.leader.election.enable";

    private Before() {
    }

    /** `replication` is null if the manager was made without the others. */
    static Map<String, Object> of(Object manager, ReplicationControlManager replication) {
        Object known = manager instanceof ReplicationControlManager ? manager : replication;
        Object cluster = known == null ? manager : field(known, "clusterControl");
        Object configs = known == null ? manager : field(known, "configurationControl");
        Object features = known == null ? field(manager, "featureControl") : field(known, "featureControl");
        Map<String, Object> state = new TreeMap<>();
        state.put("brokers", cluster instanceof ClusterControlManager clusters ? brokers(clusters) : Map.of());
        state.put("topics", known == null ? List.of() : topics(known, (ConfigurationControlManager) configs));
        ConfigurationControlManager of = configs instanceof ConfigurationControlManager found ? found : null;
        state.put("min_isr", config(of, MIN_ISR, "1"));
        state.put("unclean", config(of, UNCLEAN, "false"));
        FeatureControlManager feature =
            manager instanceof FeatureControlManager own ? own : (FeatureControlManager) features;
        // Before 4.0 the manager of partitions has it, and it is experimental.
        boolean experimental = known != null && Boolean.TRUE.equals(field(known, "eligibleLeaderReplicasEnabled"));
        state.put("elr", experimental
            || feature != null && Boolean.TRUE.equals(call(feature, "isElrFeatureEnabled")));
        return state;
    }

    private static String config(ConfigurationControlManager configs, String key, String otherwise) {
        if (configs == null) {
            return otherwise;
        }
        String set = configs.getConfigs(CLUSTER).get(key);
        Object fixed = ((Map<?, ?>) field(configs, "staticConfig")).get(key);
        return set != null ? set : fixed != null ? fixed.toString() : otherwise;
    }

    private static Map<Integer, Object> brokers(ClusterControlManager cluster) {
        Map<Integer, Object> found = new TreeMap<>();
        Object heartbeats = field(cluster, "heartbeatManager");
        cluster.brokerRegistrations().forEach((id, registration) ->
            found.put(id, broker(cluster, heartbeats, registration)));
        return found;
    }

    private static Map<String, Object> broker(
        ClusterControlManager cluster, Object heartbeats, BrokerRegistration registration
    ) {
        Map<String, Object> broker = new TreeMap<>();
        broker.put("epoch", registration.epoch());
        broker.put("fenced", registration.fenced());
        broker.put("shutting_down", registration.inControlledShutdown());
        broker.put("incarnation", registration.incarnationId().toString());
        OptionalLong offset = cluster.registerBrokerRecordOffset(registration.id());
        broker.put("registered_at", offset.isPresent() ? offset.getAsLong() : null);
        if (heartbeats != null) {
            Object tracked = ((Map<?, ?>) field(heartbeats, "brokers")).get(registration.id());
            broker.put("read", tracked == null ? null : field(tracked, "metadataOffset"));
            broker.put("shutdown_at", tracked == null ? null : field(tracked, "controlledShutdownOffset"));
            Object alive = call(heartbeats, "hasValidSession", registration.id(), registration.epoch());
            // Up to 3.7 it takes the id alone.
            broker.put("session", alive != null ? alive : call(heartbeats, "hasValidSession", registration.id()));
        }
        return broker;
    }

    private static List<Object> topics(Object replication, ConfigurationControlManager configs) {
        List<Object> found = new ArrayList<>();
        for (Object topic : ((Map<?, ?>) field(replication, "topics")).values()) {
            String name = (String) field(topic, "name");
            Map<String, Object> one = new TreeMap<>();
            one.put("name", name);
            one.put("id", ((Uuid) field(topic, "id")).toString());
            Object least = call(replication, "getTopicEffectiveMinIsr", name);
            // Some tests of 3.7 set no minimum, and its manager then says 0. That demands as much as 1.
            one.put("min_isr", least == null ? config(configs, MIN_ISR, "1") : least.equals(0) ? "1" : least.toString());
            one.put("unclean", Boolean.TRUE.equals(call(configs, "uncleanLeaderElectionEnabledForTopic", name)));
            Map<Object, Object> parts = new TreeMap<>();
            ((Map<?, ?>) field(topic, "parts")).forEach((index, partition) ->
                parts.put(index, partition((PartitionRegistration) partition)));
            one.put("parts", parts);
            found.add(one);
        }
        return found;
    }

    private static Map<String, Object> partition(PartitionRegistration partition) {
        Map<String, Object> found = new TreeMap<>();
        found.put("replicas", partition.replicas);
        found.put("adding", partition.addingReplicas);
        found.put("removing", partition.removingReplicas);
        found.put("isr", partition.isr);
        found.put("elr", partition.elr);
        found.put("last_known_elr", partition.lastKnownElr);
        found.put("leader", partition.leader);
        found.put("leader_epoch", partition.leaderEpoch);
        found.put("partition_epoch", partition.partitionEpoch);
        found.put("recovering", partition.leaderRecoveryState == LeaderRecoveryState.RECOVERING);
        return found;
    }

    /** The value of a field; null if there is none. */
    static Object field(Object of, String name) {
        try {
            Field field = of.getClass().getDeclaredField(name);
            field.setAccessible(true);
            return field.get(of);
        } catch (ReflectiveOperationException absent) {
            return null;
        }
    }

    /** What a method says; null if there is none, or if it throws. */
    private static Object call(Object of, String name, Object... arguments) {
        for (Method method : of.getClass().getDeclaredMethods()) {
            if (method.getName().equals(name) && method.getParameterCount() == arguments.length) {
                try {
                    method.setAccessible(true);
                    return method.invoke(of, arguments);
                } catch (IllegalArgumentException overloaded) {
                    continue;
                } catch (ReflectiveOperationException refused) {
                    return null;
                }
            }
        }
        return null;
    }
}

package org.apache.kafka.controller;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.metadata.BrokerRegistration;
import org.apache.kafka.metadata.PartitionRegistration;
import org.apache.kafka.metadata.placement.StripedReplicaPlacer;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.timeline.SnapshotRegistry;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * The four managers of one active controller, wired as QuorumController wires them, and how records
 * reach them: one by one, each to every manager that knows its type.
 */
final class Managers implements Observation.Source {
    static final String CLUSTER = "charter";

    private record Handler(int manager, Method method) { }

    private static final Map<Class<?>, Handler[]> HANDLERS = new HashMap<>();
    private static final Object[] NO_METRICS = new Object[1];
    private static final Class<?> LOG_CONTEXT =
        Reflect.type("org.apache.kafka.common.utils.LogContext", "org.apache.kafka.common.utils.internals.LogContext");

    final Clock clock = new Clock();
    final FeatureControlManager features;
    final ConfigurationControlManager configs;
    final ClusterControlManager cluster;
    final ReplicationControlManager replication;
    private final Object[] all;

    Managers(Release release) {
        SnapshotRegistry registry = (SnapshotRegistry) Reflect.make(SnapshotRegistry.class, Reflect.make(LOG_CONTEXT));
        FeatureControlManager.Builder feature = new FeatureControlManager.Builder().setSnapshotRegistry(registry);
        Reflect.optional(feature, "setQuorumFeatures", quorumFeatures());
        Reflect.optional(feature, "setMetadataVersion", release.metadataVersion());
        features = feature.build();
        ConfigurationControlManager.Builder config = new ConfigurationControlManager.Builder()
            .setSnapshotRegistry(registry).setStaticConfig(Map.of()).setKafkaConfigSchema(release.schema());
        Reflect.optional(config, "setFeatureControl", features);
        configs = config.build();
        ClusterControlManager.Builder clusters = new ClusterControlManager.Builder()
            .setClusterId(CLUSTER).setTime(clock).setSnapshotRegistry(registry)
            .setSessionTimeoutNs(Clock.SESSION_TIMEOUT)
            .setReplicaPlacer(new StripedReplicaPlacer(new Random(0)))
            .setFeatureControlManager(features);
        watchShutdowns(clusters, "setBrokerShutdownHandler", "handleBrokerShutdown");
        watchShutdowns(clusters, "setBrokerUncleanShutdownHandler", "handleBrokerUncleanShutdown");
        withoutMetrics(clusters);
        cluster = clusters.build();
        ReplicationControlManager.Builder replicas = new ReplicationControlManager.Builder()
            .setSnapshotRegistry(registry).setConfigurationControl(configs).setClusterControl(cluster)
            .setFeatureControl(features).setMaxElectionsPerImbalance(Integer.MAX_VALUE);
        Reflect.optional(replicas, "setEligibleLeaderReplicasEnabled", release.experimentalElr());
        withoutMetrics(replicas);
        replication = replicas.build();
        all = new Object[] {features, cluster, configs, replication};
    }

    /** Becomes the active controller: sessions and other volatile state start here. */
    void activate() {
        cluster.activate();
    }

    /** Throws what the managers throw; a record that no manager knows is an adapter error. */
    void replay(ApiMessageAndVersion record, long offset) {
        ApiMessage message = record.message();
        Handler[] handlers = HANDLERS.get(message.getClass());
        if (handlers == null) {
            handlers = handlersOf(message.getClass());
            HANDLERS.put(message.getClass(), handlers);
        }
        for (Handler handler : handlers) {
            if (handler.method.getParameterCount() == 1) {
                Reflect.invoke(handler.method, all[handler.manager], message);
            } else {
                Reflect.invoke(handler.method, all[handler.manager], message, offset);
            }
        }
    }

    private Handler[] handlersOf(Class<?> message) {
        List<Handler> found = new ArrayList<>();
        for (int i = 0; i < all.length; i++) {
            for (Method method : all[i].getClass().getDeclaredMethods()) {
                if (method.getName().equals("replay") && method.getParameterTypes()[0] == message) {
                    found.add(new Handler(i, Reflect.open(method)));
                }
            }
        }
        if (found.isEmpty()) {
            throw Refusal.error("no manager replays " + message.getSimpleName());
        }
        return found.toArray(new Handler[0]);
    }

    private void watchShutdowns(Object builder, String setter, String handling) {
        for (Method method : builder.getClass().getDeclaredMethods()) {
            if (method.getName().equals(setter)) {
                Class<?> handler = method.getParameterTypes()[0];
                Reflect.call(builder, setter, Proxy.newProxyInstance(handler.getClassLoader(), new Class<?>[] {handler},
                    (proxy, called, arguments) -> Reflect.call(replication, handling, arguments)));
            }
        }
    }

    /** 3.3.0 and 3.3.1 cannot do without metrics: an object that counts nothing. */
    private static void withoutMetrics(Object builder) {
        Class<?> metrics = Reflect.classOrNull("org.apache.kafka.controller.ControllerMetrics");
        if (metrics == null || !metrics.isInterface()) {
            return;
        }
        if (NO_METRICS[0] == null) {
            NO_METRICS[0] = Proxy.newProxyInstance(metrics.getClassLoader(), new Class<?>[] {metrics},
                (proxy, called, arguments) -> zero(called.getReturnType()));
        }
        Reflect.optional(builder, "setControllerMetrics", NO_METRICS[0]);
    }

    private static Object zero(Class<?> type) {
        if (type == boolean.class) {
            return false;
        }
        if (type == int.class) {
            return 0;
        }
        return type == long.class ? (Object) 0L : null;
    }

    private static Object quorumFeatures() {
        Class<?> type = QuorumFeatures.class;
        for (String name : List.of("defaultSupportedFeatureMap", "defaultFeatureMap")) {
            if (Reflect.has(type, name)) {
                Object[] unstable = Reflect.arity(type, name) == 1 ? new Object[] {true} : new Object[0];
                Object supported = Reflect.callStatic(type, name, unstable);
                Class<?> versions = Reflect.classOrNull("org.apache.kafka.clients.ApiVersions");
                boolean withVersions = type.getDeclaredConstructors()[0].getParameterCount() == 4;
                return withVersions
                    ? Reflect.make(type, 0, Reflect.make(versions), supported, List.of(0))
                    : Reflect.make(type, 0, supported, List.of(0));
            }
        }
        throw Refusal.error("the jars do not say which features they support");
    }

    /** Whether ELR is on, as the controller itself would answer. */
    boolean elrEnabled(Release release) {
        if (!Release.hasElrFeature()) {
            return release.experimentalElr();
        }
        return features.finalizedFeatures(Long.MAX_VALUE).get(Release.ELR_FEATURE).orElse((short) 0) > 0;
    }

    @Override
    public Uuid topicId(String topic) {
        return replication.getTopicId(topic);
    }

    @Override
    public PartitionRegistration partition(Uuid topicId) {
        return replication.getPartition(topicId, 0);
    }

    @Override
    public BrokerRegistration registration(int broker) {
        return cluster.registration(broker);
    }
}

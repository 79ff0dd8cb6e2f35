package org.apache.kafka.controller;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.metadata.ConfigRecord;
import org.apache.kafka.common.metadata.FeatureLevelRecord;
import org.apache.kafka.common.metadata.PartitionRecord;
import org.apache.kafka.common.metadata.RegisterBrokerRecord;
import org.apache.kafka.common.metadata.TopicRecord;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.metadata.LeaderRecoveryState;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.server.common.MetadataVersion;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;

/**
 * Brings a controller into a given durable state: the state as records, replayed into fresh managers,
 * activated, read back and compared. An offset space below the given epochs is left to what has none.
 */
final class Loader {
    private static final Set<String> VARIABLES = Set.of("config", "partition", "registration");
    /** Counters of the charter's controller: later values must be others, which needs no record. */
    private static final String LAST_EPOCH = "last_broker_epoch";
    private static final String LAST_TOPIC_ID = "last_topic_id";
    private static final String LAST_KNOWN =
        Reflect.has(PartitionRecord.class, "setLastKnownELR") ? "setLastKnownELR" : "setLastKnownElr";  // 3.7, later
    private static final Uuid UNASSIGNED = Uuid.ZERO_UUID;

    private final Subject subject;
    private final Names names;

    private Loader(Subject subject) {
        this.subject = subject;
        this.names = subject.names;
    }

    /** `given` is the state as the charter writes it, or null: an empty cluster with the release's defaults. */
    static void load(Subject subject, Map<?, ?> given) {
        Loader loader = new Loader(subject);
        if (given == null) {
            loader.configure(1, false, subject.release.elrAtStart());
            subject.managers().activate();
            return;
        }
        for (Object variable : given.keySet()) {
            if (!VARIABLES.contains(variable) && !variable.equals(LAST_EPOCH) && !variable.equals(LAST_TOPIC_ID)) {
                throw Refusal.notLoadable("no record of the controller holds " + variable);
            }
        }
        try {
            loader.counters(given);
            loader.state(given);
            subject.managers().activate();
        } catch (Refusal refusal) {
            throw refusal;
        } catch (RuntimeException refused) {
            if (Vocabulary.isOurs(refused)) {
                throw refused;
            }
            throw Refusal.notLoadable("the controller refuses the records: " + refused);
        }
        loader.compare(given);
    }

    private void counters(Map<?, ?> given) {
        if (given.get(LAST_EPOCH) instanceof String epoch) {
            subject.skipTo(Arguments.parseEpoch(epoch) + 1);
        }
        if (given.get(LAST_TOPIC_ID) instanceof String token) {
            names.topicId(token);
        }
    }

    private void state(Map<?, ?> given) {
        Map<?, ?> config = (Map<?, ?>) given.get("config");
        if (config == null) {
            configure(1, false, subject.release.elrAtStart());
        } else {
            int minIsr = ((Long) config.get("min_insync_replicas")).intValue();
            configure(minIsr, (Boolean) config.get("unclean_election"), (Boolean) config.get("elr"));
        }
        entries(given.get("registration")).forEach((name, value) -> register(names.broker(name), (Map<?, ?>) value));
        entries(given.get("partition")).forEach((name, value) -> create(names.topic(name), (Map<?, ?>) value));
    }

    private static Map<?, ?> entries(Object map) {
        if (map == null) {
            return Map.of();
        }
        Map<?, ?> present = new TreeMap<>((Map<?, ?>) map);
        present.values().removeIf(Objects::isNull);
        return present;
    }

    private void configure(int minIsr, boolean unclean, boolean elr) {
        Release release = subject.release;
        feature(MetadataVersion.FEATURE_NAME, release.metadataVersion().featureLevel());
        if (Release.hasElrFeature()) {
            if (elr) {
                feature(Release.ELR_FEATURE, (short) 1);
            }
        } else if (elr != release.experimentalElr()) {
            throw Refusal.unsupported("elr_feature");
        }
        setting(Release.MIN_ISR, Integer.toString(minIsr));
        if (unclean) {
            setting(Release.UNCLEAN, "true");
        }
    }

    private void feature(String name, short level) {
        commit(new FeatureLevelRecord().setName(name).setFeatureLevel(level));
    }

    private void setting(String name, String value) {
        commit(new ConfigRecord().setResourceType(Observation.CLUSTER_LEVEL.type().id()).setResourceName("")
            .setName(name).setValue(value));
    }

    private void register(int broker, Map<?, ?> registration) {
        long epoch = Arguments.parseEpoch((String) registration.get("epoch"));
        RegisterBrokerRecord record = new RegisterBrokerRecord()
            .setBrokerId(broker)
            .setBrokerEpoch(epoch)
            .setIncarnationId(Names.firstIncarnation(broker))
            .setFenced((Boolean) registration.get("fenced"))
            .setInControlledShutdown((Boolean) registration.get("shutting_down"));
        Collection<RegisterBrokerRecord.BrokerEndpoint> endPoints = collection(record.endPoints());
        endPoints.add(new RegisterBrokerRecord.BrokerEndpoint().setName("PLAINTEXT").setHost("localhost")
            .setPort(9092).setSecurityProtocol((short) 0));
        Collection<RegisterBrokerRecord.BrokerFeature> features = collection(record.features());
        BrokerOperations.supportedFeatures(subject.release).forEach((name, range) -> features.add(
            new RegisterBrokerRecord.BrokerFeature().setName(name)
                .setMinSupportedVersion(range.min()).setMaxSupportedVersion(range.max())));
        Reflect.optional(record, "setLogDirs", Names.directories(broker));
        subject.commit(new ApiMessageAndVersion(record, (short) 0), epoch);
        subject.skipTo(epoch + 1);
    }

    private void create(String topic, Map<?, ?> partition) {
        Uuid id = names.topicId((String) partition.get("topic_id"));
        commit(new TopicRecord().setName(topic).setTopicId(id));
        List<Integer> replicas = names.brokers(partition.get("replicas"));
        Object leader = partition.get("leader");
        boolean recovering = (Boolean) partition.get("recovering");
        PartitionRecord record = new PartitionRecord()
            .setTopicId(id)
            .setPartitionId(0)
            .setReplicas(replicas)
            .setIsr(names.brokers(partition.get("isr")))
            .setAddingReplicas(ascending(names.brokers(partition.get("adding"))))
            .setRemovingReplicas(ascending(names.brokers(partition.get("removing"))))
            .setLeader(leader == null ? -1 : names.broker(leader))
            .setLeaderRecoveryState((recovering ? LeaderRecoveryState.RECOVERING : LeaderRecoveryState.RECOVERED).value())
            .setLeaderEpoch(((Long) partition.get("leader_epoch")).intValue())
            .setPartitionEpoch(((Long) partition.get("partition_epoch")).intValue());
        List<Uuid> directories = new ArrayList<>();
        replicas.forEach(replica -> directories.add(UNASSIGNED));
        Reflect.optional(record, "setDirectories", directories);
        // The controller writes them in the order of a HashSet and compares them in their order.
        Reflect.optional(record, "setEligibleLeaderReplicas",
            orNull(new ArrayList<>(new HashSet<>(names.brokers(partition.get("elr"))))));
        Reflect.optional(record, LAST_KNOWN, orNull(names.brokers(partition.get("last_known_elr"))));
        commit(record);
    }

    /** The order in which the controller computes them. */
    private static List<Integer> ascending(List<Integer> brokers) {
        return brokers.stream().sorted().toList();
    }

    private static List<Integer> orNull(List<Integer> brokers) {
        return brokers.isEmpty() ? null : brokers;
    }

    private void commit(ApiMessage record) {
        subject.commit(List.of(new ApiMessageAndVersion(record, (short) 0)));
    }

    /** The message collections have another superclass from 4.4 on: only their interface is linked. */
    @SuppressWarnings("unchecked")
    static <T> Collection<T> collection(Object messages) {
        return (Collection<T>) messages;
    }

    private void compare(Map<?, ?> given) {
        Map<?, ?> observed = (Map<?, ?>) Json.parse(subject.observe());
        for (String variable : VARIABLES) {
            if (!given.containsKey(variable)) {
                continue;
            }
            String wanted = Json.write(given.get(variable));
            String found = Json.write(observed.get(variable));
            if (!wanted.equals(found)) {
                throw Refusal.notLoadable(variable + " was given as " + wanted + " and reads back as " + found);
            }
        }
    }
}

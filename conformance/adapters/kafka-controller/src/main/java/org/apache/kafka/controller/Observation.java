package org.apache.kafka.controller;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.metadata.BrokerRegistration;
import org.apache.kafka.metadata.LeaderRecoveryState;
import org.apache.kafka.metadata.PartitionRegistration;

import java.util.Arrays;
import java.util.Map;

/**
 * What is observed of a controller or of a broker's image, as canonical JSON text. Partitions and
 * registrations are immutable objects in Kafka, so the text of one that was seen before is kept.
 */
final class Observation {
    static final ConfigResource CLUSTER_LEVEL = new ConfigResource(ConfigResource.Type.BROKER, "");
    private static final int[] NOBODY = {};

    /** Where partitions and registrations are read: the controller's managers, or a broker's image. */
    interface Source {
        Uuid topicId(String topic);

        PartitionRegistration partition(Uuid topicId);

        BrokerRegistration registration(int broker);
    }

    /** The object that was last seen in one place, and its text. */
    private static final class Seen {
        private final String key;
        private Object last;
        private String text = "null";

        Seen(String key) {
            this.key = Json.quote(key) + ":";
        }
    }

    private final Names names;
    private final String[] topics;
    private final int[] brokers;
    private final Seen[] partitions;
    private final Seen[] registrations;
    private final StringBuilder out = new StringBuilder(1024);

    Observation(Names names) {
        this.names = names;
        topics = names.topics().values().toArray(new String[0]);
        brokers = names.brokers().values().stream().mapToInt(Integer::intValue).toArray();
        partitions = names.topics().keySet().stream().map(Seen::new).toArray(Seen[]::new);
        registrations = names.brokers().keySet().stream().map(Seen::new).toArray(Seen[]::new);
    }

    String ofController(Managers managers, Release release) {
        Map<String, String> config = managers.configs.getConfigs(CLUSTER_LEVEL);
        out.setLength(0);
        out.append("{\"config\":{\"elr\":").append(managers.elrEnabled(release));
        out.append(",\"min_insync_replicas\":").append(config.getOrDefault(Release.MIN_ISR, "1"));
        out.append(",\"unclean_election\":").append(config.getOrDefault(Release.UNCLEAN, "false")).append("},");
        return published(managers);
    }

    String ofImage(Source image) {
        out.setLength(0);
        out.append('{');
        return published(image);
    }

    private String published(Source source) {
        out.append("\"partition\":{");
        for (int i = 0; i < topics.length; i++) {
            out.append(i == 0 ? "" : ",").append(partitions[i].key).append(partition(partitions[i], source, topics[i]));
        }
        out.append("},\"registration\":{");
        for (int i = 0; i < brokers.length; i++) {
            Seen seen = registrations[i];
            BrokerRegistration registration = source.registration(brokers[i]);
            if (registration != seen.last) {
                seen.last = registration;
                seen.text = text(registration);
            }
            out.append(i == 0 ? "" : ",").append(seen.key).append(seen.text);
        }
        return out.append("}}").toString();
    }

    private String partition(Seen seen, Source source, String topic) {
        Uuid id = source.topicId(topic);
        PartitionRegistration partition = id == null ? null : source.partition(id);
        if (partition != seen.last) {
            seen.last = partition;
            seen.text = text(partition, id);
        }
        return seen.text;
    }

    private String text(PartitionRegistration partition, Uuid id) {
        if (partition == null) {
            return "null";
        }
        boolean elr = Release.HAS_ELR_FIELDS;
        StringBuilder text = new StringBuilder(256).append("{\"adding\":");
        appendSet(text, partition.addingReplicas, names);
        appendSet(text.append(",\"elr\":"), elr ? partition.elr : NOBODY, names);
        appendSet(text.append(",\"isr\":"), partition.isr, names);
        appendSet(text.append(",\"last_known_elr\":"), elr ? withoutNobody(partition.lastKnownElr) : NOBODY, names);
        text.append(",\"leader\":").append(names.text(partition.leader));
        text.append(",\"leader_epoch\":").append(partition.leaderEpoch);
        text.append(",\"partition_epoch\":").append(partition.partitionEpoch);
        text.append(",\"recovering\":").append(partition.leaderRecoveryState == LeaderRecoveryState.RECOVERING);
        appendSet(text.append(",\"removing\":"), partition.removingReplicas, names);
        appendList(text.append(",\"replicas\":"), texts(partition.replicas, names));
        return text.append(",\"topic_id\":").append(Json.quote(names.token(id))).append('}').toString();
    }

    private static String text(BrokerRegistration registration) {
        if (registration == null) {
            return "null";
        }
        return "{\"epoch\":\"@" + registration.epoch() + "\",\"fenced\":" + registration.fenced()
            + ",\"shutting_down\":" + registration.inControlledShutdown() + "}";
    }

    static void appendSet(StringBuilder out, int[] brokers, Names names) {
        String[] texts = texts(brokers, names);
        Arrays.sort(texts);
        appendList(out, texts);
    }

    /** 4.0 writes the last leader of a partition that had none as -1. */
    private static int[] withoutNobody(int[] brokers) {
        return Arrays.stream(brokers).filter(broker -> broker >= 0).toArray();
    }

    private static String[] texts(int[] brokers, Names names) {
        String[] texts = new String[brokers.length];
        for (int i = 0; i < brokers.length; i++) {
            texts[i] = names.text(brokers[i]);
        }
        return texts;
    }

    private static void appendList(StringBuilder out, String[] texts) {
        out.append('[');
        for (int i = 0; i < texts.length; i++) {
            out.append(i == 0 ? "" : ",").append(texts[i]);
        }
        out.append(']');
    }
}

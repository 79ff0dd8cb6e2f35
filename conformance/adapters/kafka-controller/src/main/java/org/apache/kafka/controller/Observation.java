package org.apache.kafka.controller;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.metadata.BrokerRegistration;
import org.apache.kafka.metadata.LeaderRecoveryState;
import org.apache.kafka.metadata.PartitionRegistration;

import java.util.Arrays;
import java.util.Map;

/** What is observed of a controller or of a broker's image, as canonical JSON text. */
final class Observation {
    static final ConfigResource CLUSTER_LEVEL = new ConfigResource(ConfigResource.Type.BROKER, "");
    private static final int[] NONE = {};

    /** Where partitions and registrations are read: the controller's managers, or a broker's image. */
    interface Source {
        Uuid topicId(String topic);

        PartitionRegistration partition(Uuid topicId);

        BrokerRegistration registration(int broker);
    }

    private Observation() {
    }

    static String ofController(Managers managers, Release release, Names names) {
        Map<String, String> config = managers.configs.getConfigs(CLUSTER_LEVEL);
        StringBuilder out = new StringBuilder(512);
        out.append("{\"config\":{\"elr\":").append(managers.elrEnabled(release));
        out.append(",\"min_insync_replicas\":").append(config.getOrDefault(Release.MIN_ISR, "1"));
        out.append(",\"unclean_election\":").append(config.getOrDefault(Release.UNCLEAN, "false")).append("},");
        appendPublished(out, managers, names);
        return out.append('}').toString();
    }

    static String ofImage(Source image, Names names) {
        StringBuilder out = new StringBuilder(512).append('{');
        appendPublished(out, image, names);
        return out.append('}').toString();
    }

    private static void appendPublished(StringBuilder out, Source source, Names names) {
        out.append("\"partition\":{");
        String before = "";
        for (Map.Entry<String, String> topic : names.topics().entrySet()) {
            out.append(before).append(Json.quote(topic.getKey())).append(':');
            appendPartition(out, source, topic.getValue(), names);
            before = ",";
        }
        out.append("},\"registration\":{");
        before = "";
        for (Map.Entry<String, Integer> broker : names.brokers().entrySet()) {
            out.append(before).append(Json.quote(broker.getKey())).append(':');
            appendRegistration(out, source.registration(broker.getValue()));
            before = ",";
        }
        out.append('}');
    }

    private static void appendPartition(StringBuilder out, Source source, String topic, Names names) {
        Uuid id = source.topicId(topic);
        PartitionRegistration partition = id == null ? null : source.partition(id);
        if (partition == null) {
            out.append("null");
            return;
        }
        boolean elr = Release.HAS_ELR_FIELDS;
        out.append("{\"adding\":");
        appendSet(out, partition.addingReplicas, names);
        appendSet(out.append(",\"elr\":"), elr ? partition.elr : NONE, names);
        appendSet(out.append(",\"isr\":"), partition.isr, names);
        appendSet(out.append(",\"last_known_elr\":"), elr ? partition.lastKnownElr : NONE, names);
        out.append(",\"leader\":").append(names.text(partition.leader));
        out.append(",\"leader_epoch\":").append(partition.leaderEpoch);
        out.append(",\"partition_epoch\":").append(partition.partitionEpoch);
        out.append(",\"recovering\":").append(partition.leaderRecoveryState == LeaderRecoveryState.RECOVERING);
        appendSet(out.append(",\"removing\":"), partition.removingReplicas, names);
        appendList(out.append(",\"replicas\":"), texts(partition.replicas, names));
        out.append(",\"topic_id\":").append(Json.quote(names.token(id))).append('}');
    }

    private static void appendRegistration(StringBuilder out, BrokerRegistration registration) {
        if (registration == null) {
            out.append("null");
            return;
        }
        out.append("{\"epoch\":\"@").append(registration.epoch());
        out.append("\",\"fenced\":").append(registration.fenced());
        out.append(",\"incarnation\":\"").append(Names.incarnation(registration.incarnationId()));
        out.append("\",\"shutting_down\":").append(registration.inControlledShutdown()).append('}');
    }

    static void appendSet(StringBuilder out, int[] brokers, Names names) {
        String[] texts = texts(brokers, names);
        Arrays.sort(texts);
        appendList(out, texts);
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

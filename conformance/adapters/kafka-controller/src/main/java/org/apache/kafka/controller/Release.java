package org.apache.kafka.controller;

import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.metadata.KafkaConfigSchema;
import org.apache.kafka.metadata.PartitionRegistration;
import org.apache.kafka.server.common.MetadataVersion;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;

/**
 * What the jars on the class path are and can do.
 *
 * <p>ELR is a feature of the cluster from 4.0 on. From 3.7 to 3.9 it is experimental: a switch of the
 * controller together with an unstable metadata version, on for the whole run if asked for.
 */
record Release(String version, MetadataVersion metadataVersion, boolean experimentalElr, KafkaConfigSchema schema) {
    static final String ELR_FEATURE = "eligible.leader.replicas.version";
    static final String MIN_ISR = "min.insync.replicas";
    static final String UNCLEAN = "unclean.leader.election.enable";

    /** Whether a partition has the fields of KIP-966 at all. */
    static final boolean HAS_ELR_FIELDS = Reflect.hasField(PartitionRegistration.class, "elr");
    private static final boolean HAS_ELR_FEATURE =
        Reflect.classOrNull("org.apache.kafka.server.common.EligibleLeaderReplicasVersion") != null;

    private static final Map<String, String> EXPERIMENTAL =
        Map.of("3.7", "3.8-IV0", "3.8", "3.9-IV0", "3.9", "4.0-IV1");

    /** `wanted` is the metadata version, "" for the newest that is stable. */
    static Release find(boolean experimentalElr, String wanted) {
        String version = versionOfJars();
        String line = version.substring(0, version.indexOf('.', version.indexOf('.') + 1));
        if (experimentalElr && !EXPERIMENTAL.containsKey(line)) {
            throw Refusal.error("--experimental-elr is for 3.7 to 3.9, not for " + version);
        }
        if (!wanted.isEmpty()) {
            if (experimentalElr || HAS_ELR_FEATURE) {
                throw Refusal.error("a metadata version is for releases before 4.0 with ELR off, not for " + version);
            }
            return new Release(version, metadataVersion(wanted), false, newSchema());
        }
        MetadataVersion metadata = experimentalElr ? metadataVersion(EXPERIMENTAL.get(line)) : newestStable();
        return new Release(version, metadata, experimentalElr, newSchema());
    }

    /** Whether eligible.leader.replicas.version can be switched. */
    static boolean hasElrFeature() {
        return HAS_ELR_FEATURE;
    }

    /** What a cluster of this release starts with in the charter's reading: ELR wherever it is stable. */
    boolean elrAtStart() {
        return experimentalElr || hasElrFeature();
    }

    List<String> capabilities() {
        List<String> capabilities = new ArrayList<>(List.of("load", "image"));
        if (elrAtStart()) {
            capabilities.add("elr");
        }
        if (hasElrFeature()) {
            capabilities.add("elr_feature");
        }
        return capabilities;
    }

    private static MetadataVersion newestStable() {
        boolean named = Reflect.has(MetadataVersion.class, "latestProduction");
        return (MetadataVersion) Reflect.callStatic(MetadataVersion.class, named ? "latestProduction" : "latest");
    }

    private static MetadataVersion metadataVersion(String name) {
        for (MetadataVersion known : MetadataVersion.values()) {
            if (known.version().equals(name)) {
                return known;
            }
        }
        throw Refusal.error("the jars have no metadata version " + name);
    }

    private static String versionOfJars() {
        Properties properties = new Properties();
        try (InputStream in = MetadataVersion.class.getResourceAsStream("/kafka/kafka-version.properties")) {
            if (in == null) {
                throw Refusal.error("the jars do not say their version");
            }
            properties.load(in);
        } catch (IOException broken) {
            throw Refusal.error("the version of the jars cannot be read");
        }
        return properties.getProperty("version");
    }

    /** The two settings that the controller itself reads, with Kafka's defaults. */
    private static KafkaConfigSchema newSchema() {
        Class<?> type = Reflect.type("org.apache.kafka.server.config.ConfigSynonym", "org.apache.kafka.metadata.ConfigSynonym");
        ConfigDef definition = new ConfigDef()
            .define(MIN_ISR, ConfigDef.Type.INT, "1", ConfigDef.Importance.HIGH, "")
            .define(UNCLEAN, ConfigDef.Type.BOOLEAN, "false", ConfigDef.Importance.HIGH, "");
        Object synonyms = Map.of(
            MIN_ISR, List.of(Reflect.make(type, MIN_ISR)),
            UNCLEAN, List.of(Reflect.make(type, UNCLEAN)));
        return (KafkaConfigSchema) Reflect.make(KafkaConfigSchema.class,
            Map.of(ConfigResource.Type.BROKER, definition, ConfigResource.Type.TOPIC, definition), synonyms);
    }
}

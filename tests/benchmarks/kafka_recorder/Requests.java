package org.apache.kafka.controller;

import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.message.AlterPartitionReassignmentsRequestData;
import org.apache.kafka.common.message.AlterPartitionRequestData;
import org.apache.kafka.common.message.BrokerHeartbeatRequestData;
import org.apache.kafka.common.message.BrokerRegistrationRequestData;
import org.apache.kafka.common.message.CreateTopicsRequestData;
import org.apache.kafka.common.message.ElectLeadersRequestData;
import org.apache.kafka.common.metadata.BrokerRegistrationChangeRecord;
import org.apache.kafka.common.metadata.FenceBrokerRecord;
import org.apache.kafka.common.metadata.PartitionRecord;
import org.apache.kafka.common.metadata.TopicRecord;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.server.common.ApiMessageAndVersion;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The arguments of a call, and the records that it returned, as JSON values. */
final class Requests {
    private Requests() {
    }

    static Object of(String method, Object[] arguments) {
        return switch (method) {
            case "registerBroker" -> register((BrokerRegistrationRequestData) arguments[0], arguments);
            case "processBrokerHeartbeat" -> heartbeat((BrokerHeartbeatRequestData) arguments[0], arguments[1]);
            case "alterPartition" -> alter((AlterPartitionRequestData) arguments[1]);
            case "electLeaders" -> elect((ElectLeadersRequestData) arguments[0]);
            case "alterPartitionReassignments" -> reassign((AlterPartitionReassignmentsRequestData) arguments[0]);
            case "createTopics" -> create((CreateTopicsRequestData) arguments[1]);
            case "deleteTopics" -> Map.of("ids", strings((Collection<?>) arguments[arguments.length - 1]));
            case "unregisterBroker" -> Map.of("broker", arguments[0]);
            case "incrementalAlterConfigs" -> configs((Map<?, ?>) arguments[0]);
            case "incrementalAlterConfig" -> configs(Map.of(arguments[0], arguments[1]));
            case "updateFeatures" -> Map.of("features", arguments[0], "only_validated", arguments[2]);
            default -> Map.of();
        };
    }

    private static Object register(BrokerRegistrationRequestData request, Object[] arguments) {
        Map<String, Object> found = new TreeMap<>();
        found.put("broker", request.brokerId());
        found.put("incarnation", request.incarnationId().toString());
        found.put("previous_epoch", request.previousBrokerEpoch());
        found.put("new_epoch", arguments[1]);
        // From 4.0 on the manager is told whether to compare it; before, nothing follows from it.
        found.put("detects", !(arguments[arguments.length - 1] instanceof Boolean detects) || detects);
        return found;
    }

    private static Object heartbeat(BrokerHeartbeatRequestData request, Object registered) {
        Map<String, Object> found = new TreeMap<>();
        found.put("broker", request.brokerId());
        found.put("epoch", request.brokerEpoch());
        found.put("read", request.currentMetadataOffset());
        found.put("registered_at", registered);
        found.put("want_fence", request.wantFence());
        found.put("want_shut_down", request.wantShutDown());
        found.put("directories_failed", request.offlineLogDirs().size());
        return found;
    }

    private static Object alter(AlterPartitionRequestData request) {
        List<Object> parts = new ArrayList<>();
        request.topics().forEach(topic -> topic.partitions().forEach(partition -> {
            Map<String, Object> part = new TreeMap<>();
            part.put("topic_id", topic.topicId().toString());
            part.put("part", partition.partitionIndex());
            part.put("leader_epoch", partition.leaderEpoch());
            part.put("partition_epoch", partition.partitionEpoch());
            part.put("recovery", partition.leaderRecoveryState());
            List<Object> isr = new ArrayList<>();
            partition.newIsr().forEach(member -> isr.add(List.of(member, -1L)));
            partition.newIsrWithEpochs().forEach(state -> isr.add(List.of(state.brokerId(), state.brokerEpoch())));
            part.put("isr", isr);
            parts.add(part);
        }));
        return Map.of("from", request.brokerId(), "epoch", request.brokerEpoch(), "parts", parts);
    }

    private static Object elect(ElectLeadersRequestData request) {
        List<Object> parts = new ArrayList<>();
        if (request.topicPartitions() != null) {
            request.topicPartitions().forEach(topic ->
                topic.partitions().forEach(part -> parts.add(Map.of("topic", topic.topic(), "part", part))));
        }
        return Map.of("unclean", request.electionType() == 1, "all", request.topicPartitions() == null, "parts", parts);
    }

    private static Object reassign(AlterPartitionReassignmentsRequestData request) {
        List<Object> parts = new ArrayList<>();
        request.topics().forEach(topic -> topic.partitions().forEach(partition -> {
            Map<String, Object> part = new TreeMap<>();
            part.put("topic", topic.name());
            part.put("part", partition.partitionIndex());
            part.put("target", partition.replicas());
            parts.add(part);
        }));
        return Map.of("parts", parts);
    }

    private static Object create(CreateTopicsRequestData request) {
        List<Object> topics = new ArrayList<>();
        request.topics().forEach(topic -> {
            List<Object> assignments = new ArrayList<>();
            topic.assignments().forEach(assignment -> assignments.add(assignment.brokerIds()));
            topics.add(Map.of("name", topic.name(), "assignments", assignments));
        });
        return Map.of("topics", topics);
    }

    private static Object configs(Map<?, ?> changes) {
        List<Object> found = new ArrayList<>();
        changes.forEach((resource, keys) -> ((Map<?, ?>) keys).forEach((key, change) -> {
            ConfigResource of = (ConfigResource) resource;
            Map.Entry<?, ?> entry = (Map.Entry<?, ?>) change;
            Map<String, Object> one = new TreeMap<>();
            one.put("type", of.type().toString());
            one.put("name", of.name());
            one.put("key", key);
            one.put("how", entry.getKey().toString());
            one.put("value", entry.getValue());
            found.add(one);
        }));
        return Map.of("changes", found);
    }

    private static List<String> strings(Collection<?> values) {
        return values.stream().map(Object::toString).toList();
    }

    /** Of the records that an operation returned: who was fenced, and which partitions are new. */
    static Object records(Object result) {
        List<Object> fenced = new ArrayList<>();
        List<Object> made = new ArrayList<>();
        Map<Object, String> names = new HashMap<>();
        if (result instanceof ControllerResult<?> returned) {
            for (ApiMessageAndVersion record : returned.records()) {
                ApiMessage message = record.message();
                if (message instanceof FenceBrokerRecord fence) {
                    fenced.add(fence.id());
                } else if (message instanceof BrokerRegistrationChangeRecord change && change.fenced() == 1) {
                    fenced.add(change.brokerId());
                } else if (message instanceof TopicRecord topic) {
                    names.put(topic.topicId(), topic.name());
                } else if (message instanceof PartitionRecord part && names.containsKey(part.topicId())) {
                    made.add(Map.of("topic", names.get(part.topicId()), "replicas", part.replicas()));
                }
            }
        }
        return Map.of("fenced", fenced, "made", made);
    }
}

package org.apache.kafka.controller;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.AlterPartitionReassignmentsRequestData;
import org.apache.kafka.common.message.AlterPartitionReassignmentsResponseData;
import org.apache.kafka.common.message.AlterPartitionRequestData;
import org.apache.kafka.common.message.AlterPartitionResponseData;
import org.apache.kafka.common.message.CreateTopicsRequestData;
import org.apache.kafka.common.message.CreateTopicsResponseData;
import org.apache.kafka.common.message.ElectLeadersRequestData;
import org.apache.kafka.common.message.ElectLeadersResponseData;
import org.apache.kafka.common.message.RequestHeaderData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.requests.ApiError;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.metadata.LeaderRecoveryState;
import org.apache.kafka.metadata.PartitionRegistration;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;

/** Partitions and topics. A topic has one partition, 0. */
final class PartitionOperations {
    private static final boolean HAS_ISR_EPOCHS =
        Reflect.has(AlterPartitionRequestData.PartitionData.class, "setNewIsrWithEpochs");
    private static final byte PREFERRED = 0;
    private static final byte UNCLEAN = 1;

    private PartitionOperations() {
    }

    private static ControllerRequestContext context(ApiKeys key) {
        return new ControllerRequestContext(
            new RequestHeaderData().setRequestApiKey(key.id).setRequestApiVersion(key.latestVersion()),
            KafkaPrincipal.ANONYMOUS, OptionalLong.empty());
    }

    static String alterPartition(Subject subject, Arguments arguments) {
        boolean recovering = arguments.flag("recovering");
        AlterPartitionRequestData.PartitionData partition = new AlterPartitionRequestData.PartitionData()
            .setPartitionIndex(0)
            .setLeaderEpoch(arguments.number("leader_epoch"))
            .setPartitionEpoch(arguments.number("partition_epoch"))
            .setLeaderRecoveryState((recovering ? LeaderRecoveryState.RECOVERING : LeaderRecoveryState.RECOVERED).value());
        List<Integer> isr = asListed(subject, arguments.topicId("topic_id"), arguments.brokers("isr"));
        if (HAS_ISR_EPOCHS) {
            withEpochs(partition, isr, arguments);
        } else {
            partition.setNewIsr(isr);
        }
        AlterPartitionRequestData request = new AlterPartitionRequestData()
            .setBrokerId(arguments.broker("from"))
            .setBrokerEpoch(arguments.epoch("broker_epoch"));
        request.topics().add(new AlterPartitionRequestData.TopicData()
            .setTopicId(arguments.topicId("topic_id")).setPartitions(List.of(partition)));
        ControllerResult<AlterPartitionResponseData> result =
            subject.managers().replication.alterPartition(context(ApiKeys.ALTER_PARTITION), request);
        subject.commit(result.records());
        return altered(result.response().topics().get(0).partitions().get(0), subject.names);
    }

    /** A set in the order in which the controller lists it: it takes the same ISR in another order for a change. */
    private static List<Integer> asListed(Subject subject, Uuid topic, List<Integer> isr) {
        PartitionRegistration partition = subject.managers().replication.getPartition(topic, 0);
        if (partition == null) {
            return isr;
        }
        List<Integer> ordered = new ArrayList<>();
        for (int member : partition.isr) {
            if (isr.contains(member)) {
                ordered.add(member);
            }
        }
        isr.stream().filter(member -> !ordered.contains(member)).forEach(ordered::add);
        return ordered;
    }

    private static void withEpochs(AlterPartitionRequestData.PartitionData partition, List<Integer> isr, Arguments arguments) {
        List<AlterPartitionRequestData.BrokerState> states = new ArrayList<>();
        for (int member : isr) {
            states.add(new AlterPartitionRequestData.BrokerState()
                .setBrokerId(member).setBrokerEpoch(arguments.epoch("isr_epochs", member)));
        }
        partition.setNewIsrWithEpochs(states);
    }

    private static String altered(AlterPartitionResponseData.PartitionData partition, Names names) {
        Operations.check(partition.errorCode(), null);
        StringBuilder out = new StringBuilder("{\"case\":\"altered\",\"isr\":");
        Observation.appendSet(out, partition.isr().stream().mapToInt(Integer::intValue).toArray(), names);
        out.append(",\"leader\":").append(names.text(partition.leaderId()));
        out.append(",\"leader_epoch\":").append(partition.leaderEpoch());
        out.append(",\"partition_epoch\":").append(partition.partitionEpoch());
        boolean recovering = partition.leaderRecoveryState() == LeaderRecoveryState.RECOVERING.value();
        return out.append(",\"recovering\":").append(recovering).append('}').toString();
    }

    static String electLeader(Subject subject, Arguments arguments) {
        ElectLeadersRequestData request = new ElectLeadersRequestData()
            .setElectionType(arguments.flag("unclean") ? UNCLEAN : PREFERRED);
        Collection<ElectLeadersRequestData.TopicPartitions> topics = Loader.collection(request.topicPartitions());
        topics.add(new ElectLeadersRequestData.TopicPartitions()
            .setTopic(arguments.topic("topic")).setPartitions(List.of(0)));
        ControllerResult<ElectLeadersResponseData> result = subject.managers().replication.electLeaders(request);
        subject.commit(result.records());
        ElectLeadersResponseData.PartitionResult partition =
            result.response().replicaElectionResults().get(0).partitionResult().get(0);
        Operations.check(partition.errorCode(), partition.errorMessage());
        return Operations.DONE;
    }

    static String balanceLeaders(Subject subject, Arguments arguments) {
        return Operations.repeat(subject, () -> subject.managers().replication.maybeBalancePartitionLeaders());
    }

    /** From 3.9 on. */
    @SuppressWarnings("unchecked")
    static String electUncleanly(Subject subject, Arguments arguments) {
        ReplicationControlManager replication = subject.managers().replication;
        return Operations.repeat(subject,
            () -> (ControllerResult<Boolean>) Reflect.call(replication, Operations.UNCLEAN_TASK));
    }

    static String reassign(Subject subject, Arguments arguments) {
        return reassign(subject, arguments.topic("topic"), arguments.brokers("target"));
    }

    static String cancelReassignment(Subject subject, Arguments arguments) {
        return reassign(subject, arguments.topic("topic"), null);
    }

    /** No replicas: cancel. */
    private static String reassign(Subject subject, String topic, List<Integer> replicas) {
        AlterPartitionReassignmentsRequestData request = new AlterPartitionReassignmentsRequestData();
        request.topics().add(new AlterPartitionReassignmentsRequestData.ReassignableTopic().setName(topic)
            .setPartitions(List.of(new AlterPartitionReassignmentsRequestData.ReassignablePartition()
                .setPartitionIndex(0).setReplicas(replicas))));
        ControllerResult<AlterPartitionReassignmentsResponseData> result =
            subject.managers().replication.alterPartitionReassignments(request);
        subject.commit(result.records());
        AlterPartitionReassignmentsResponseData.ReassignablePartitionResponse partition =
            result.response().responses().get(0).partitions().get(0);
        Operations.check(partition.errorCode(), partition.errorMessage());
        return Operations.DONE;
    }

    static String createTopic(Subject subject, Arguments arguments) {
        String topic = arguments.topic("topic");
        CreateTopicsRequestData request = new CreateTopicsRequestData();
        CreateTopicsRequestData.CreatableTopic creatable = new CreateTopicsRequestData.CreatableTopic()
            .setName(topic).setNumPartitions(-1).setReplicationFactor((short) -1);
        Collection<CreateTopicsRequestData.CreatableReplicaAssignment> assignments =
            Loader.collection(creatable.assignments());
        assignments.add(new CreateTopicsRequestData.CreatableReplicaAssignment()
            .setPartitionIndex(0).setBrokerIds(arguments.brokers("replicas")));
        Collection<CreateTopicsRequestData.CreatableTopic> topics = Loader.collection(request.topics());
        topics.add(creatable);
        ControllerResult<?> result = createTopics(subject.managers().replication, request);
        subject.commit(result.records());
        CreateTopicsResponseData.CreatableTopicResult created =
            ((CreateTopicsResponseData) result.response()).topics().find(topic);
        Operations.check(created.errorCode(), created.errorMessage());
        String token = subject.names.token(created.topicId());
        return "{\"case\":\"created\",\"topic_id\":" + Json.quote(token) + "}";
    }

    private static ControllerResult<?> createTopics(ReplicationControlManager replication, CreateTopicsRequestData request) {
        Set<String> describable = Set.of();
        return (ControllerResult<?>) switch (Reflect.arity(ReplicationControlManager.class, "createTopics")) {
            case 2 -> Reflect.call(replication, "createTopics", request, describable);
            case 3 -> Reflect.call(replication, "createTopics", context(ApiKeys.CREATE_TOPICS), request, describable);
            default ->
                Reflect.call(replication, "createTopics", context(ApiKeys.CREATE_TOPICS), request, describable, false);
        };
    }

    static String deleteTopic(Subject subject, Arguments arguments) {
        Uuid id = arguments.topicId("topic_id");
        ReplicationControlManager replication = subject.managers().replication;
        ControllerResult<?> result = (ControllerResult<?>) (
            Reflect.arity(ReplicationControlManager.class, "deleteTopics") == 1
                ? Reflect.call(replication, "deleteTopics", List.of(id))
                : Reflect.call(replication, "deleteTopics", context(ApiKeys.DELETE_TOPICS), List.of(id)));
        subject.commit(result.records());
        ApiError error = (ApiError) ((Map<?, ?>) result.response()).get(id);
        Operations.check(error.error().code(), error.message());
        return Operations.DONE;
    }
}

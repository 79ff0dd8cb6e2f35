package org.apache.kafka.controller;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.StaleBrokerEpochException;
import org.apache.kafka.common.message.BrokerHeartbeatRequestData;
import org.apache.kafka.common.message.BrokerRegistrationRequestData;
import org.apache.kafka.metadata.BrokerHeartbeatReply;
import org.apache.kafka.metadata.BrokerRegistration;
import org.apache.kafka.metadata.BrokerRegistrationReply;
import org.apache.kafka.server.common.MetadataVersion;

import java.util.Collection;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** Registration, heartbeats, sessions. What QuorumController does around the managers is done here too. */
final class BrokerOperations {
    /** Newest of the versions that detect a clean shutdown by the previous broker epoch. */
    private static final short REGISTRATION_VERSION = 3;
    private static final int MANY = 1000;
    private static final int REGISTER_PARAMETERS = Reflect.arity(ClusterControlManager.class, "registerBroker");
    private static final boolean TRACKS_HEARTBEATS = Reflect.has(ClusterControlManager.class, "trackBrokerHeartbeat");
    private static final int SESSION_PARAMETERS = Reflect.arity(BrokerHeartbeatManager.class, "hasValidSession");
    private static final String UPDATE_SHUTDOWN =
        Reflect.has(BrokerHeartbeatManager.class, "maybeUpdateControlledShutdownOffset")
            ? "maybeUpdateControlledShutdownOffset" : "updateControlledShutdownOffset";

    /** The versions of a feature that a broker says it supports. */
    record Range(short min, short max) { }

    private BrokerOperations() {
    }

    static Map<String, Range> supportedFeatures(Release release) {
        Map<String, Range> ranges = new TreeMap<>();
        ranges.put(MetadataVersion.FEATURE_NAME, new Range((short) 1, release.metadataVersion().featureLevel()));
        if (Release.hasElrFeature()) {
            ranges.put(Release.ELR_FEATURE, new Range((short) 0, (short) 1));
        }
        return ranges;
    }

    static String register(Subject subject, Arguments arguments) {
        ClusterControlManager cluster = subject.managers().cluster;
        BrokerRegistrationRequestData request = registration(subject, arguments);
        int broker = arguments.broker("broker");
        OptionalLong registered = cluster.registerBrokerRecordOffset(broker);
        long epoch = subject.nextOffset();
        Object features = subject.managers().features.finalizedFeatures(Long.MAX_VALUE);
        ControllerResult<?> result;
        if (REGISTER_PARAMETERS == 3) {
            result = (ControllerResult<?>) Reflect.call(cluster, "registerBroker", request, epoch, features);
        } else {
            Object version = Release.hasElrFeature() ? (Object) true : (Object) REGISTRATION_VERSION;
            result = (ControllerResult<?>) Reflect.call(cluster, "registerBroker", request, epoch, features, version);
        }
        subject.commit(result.records());
        // A process that was refused is none: what the other one has read stays.
        if (arguments.flag("restarted")) {
            subject.read.remove(broker);
        } else {
            registered.ifPresent(at -> subject.read.putIfAbsent(broker, at - 1));
        }
        long allotted = ((BrokerRegistrationReply) result.response()).epoch();
        return "{\"case\":\"registered\",\"epoch\":\"@" + allotted + "\"}";
    }

    private static BrokerRegistrationRequestData registration(Subject subject, Arguments arguments) {
        int broker = arguments.broker("broker");
        BrokerRegistrationRequestData request = new BrokerRegistrationRequestData()
            .setBrokerId(broker)
            .setClusterId(Managers.CLUSTER)
            .setIncarnationId(incarnation(subject, broker, arguments.flag("restarted")));
        Collection<BrokerRegistrationRequestData.Listener> listeners = Loader.collection(request.listeners());
        listeners.add(new BrokerRegistrationRequestData.Listener().setName("PLAINTEXT").setHost("localhost")
            .setPort(9092).setSecurityProtocol((short) 0));
        Collection<BrokerRegistrationRequestData.Feature> features = Loader.collection(request.features());
        supportedFeatures(subject.release).forEach((name, range) -> features.add(
            new BrokerRegistrationRequestData.Feature().setName(name)
                .setMinSupportedVersion(range.min()).setMaxSupportedVersion(range.max())));
        Reflect.optional(request, "setLogDirs", Names.directories(broker));
        Reflect.optional(request, "setPreviousBrokerEpoch", arguments.epoch("previous_epoch"));
        return request;
    }

    private static Uuid incarnation(Subject subject, int broker, boolean restarted) {
        BrokerRegistration known = subject.managers().cluster.brokerRegistrations().get(broker);
        if (known == null) {
            return Names.firstIncarnation(broker);
        }
        return restarted ? Names.nextIncarnation(known.incarnationId()) : known.incarnationId();
    }

    static String heartbeat(Subject subject, Arguments arguments) {
        Managers managers = subject.managers();
        int broker = arguments.broker("broker");
        long epoch = arguments.epoch("epoch");
        if (TRACKS_HEARTBEATS) {
            Reflect.call(managers.cluster, "trackBrokerHeartbeat", broker, epoch);
        }
        OptionalLong registered = managers.cluster.registerBrokerRecordOffset(broker);
        if (registered.isEmpty()) {
            throw new StaleBrokerEpochException("a heartbeat before registration");
        }
        long reached = arguments.flag("caught_up") ? subject.nextOffset() - 1 : lagging(subject, broker, registered.getAsLong());
        subject.read.put(broker, reached);
        ControllerResult<BrokerHeartbeatReply> result = managers.replication.processBrokerHeartbeat(
            new BrokerHeartbeatRequestData().setBrokerId(broker).setBrokerEpoch(epoch)
                .setCurrentMetadataOffset(reached)
                .setWantFence(arguments.flag("want_fence"))
                .setWantShutDown(arguments.flag("want_shut_down")),
            registered.getAsLong());
        subject.commit(result.records());
        BrokerHeartbeatReply reply = result.response();
        if (reply.inControlledShutdown()) {
            Reflect.call(managers.cluster.heartbeatManager(), UPDATE_SHUTDOWN, broker, subject.nextOffset() - 1);
        }
        return "{\"case\":\"alive\",\"caught_up\":" + reply.isCaughtUp() + ",\"fenced\":" + reply.isFenced()
            + ",\"should_shut_down\":" + reply.shouldShutDown() + "}";
    }

    /** Before its registration, and no further than it was: who registers again has read nothing new by that. */
    private static long lagging(Subject subject, int broker, long registered) {
        return Math.min(subject.read.getOrDefault(broker, registered - 1), registered - 1);
    }

    /** One broker at a time: from 4.0 on the controller finds expired brokers in no particular order. */
    static String sessionExpires(Subject subject, Arguments arguments) {
        Managers managers = subject.managers();
        int expiring = arguments.broker("broker");
        Set<Integer> lapsed = lapsed(managers);
        end(managers, Set.of(expiring), lapsed);
        for (int i = 0; i < MANY; i++) {
            ControllerResult<?> result = managers.replication.maybeFenceOneStaleBroker();
            subject.commit(result.records());
            boolean more = result.response() == null ? !result.records().isEmpty() : (Boolean) result.response();
            if (!more) {
                lapsed.remove(expiring);
                if (!lapsed.isEmpty()) {
                    end(managers, lapsed, Set.of());
                }
                return Operations.DONE;
            }
        }
        throw new IllegalStateException("the controller fences stale brokers without end");
    }

    /** The session ends, and the controller does not look for stale brokers yet. */
    static String sessionEnds(Subject subject, Arguments arguments) {
        end(subject.managers(), Set.of(arguments.broker("broker")), Set.of());
        return Operations.DONE;
    }

    /** Brokers that are not fenced, and whose session has ended. */
    private static Set<Integer> lapsed(Managers managers) {
        Set<Integer> found = new TreeSet<>();
        managers.cluster.brokerRegistrations().forEach((id, broker) -> {
            if (!broker.fenced() && !hasSession(managers, broker)) {
                found.add(id);
            }
        });
        return found;
    }

    /** Ends sessions. All others go on, and those of `again` begin again. */
    private static void end(Managers managers, Set<Integer> ending, Set<Integer> again) {
        Map<Integer, BrokerRegistration> alive = new TreeMap<>(managers.cluster.brokerRegistrations());
        alive.values().removeIf(broker -> ending.contains(broker.id())
            || !again.contains(broker.id()) && !hasSession(managers, broker));
        managers.clock.passSessionTimeout();
        alive.values().forEach(broker -> keepAlive(managers, broker));
    }

    private static boolean hasSession(Managers managers, BrokerRegistration broker) {
        BrokerHeartbeatManager heartbeats = managers.cluster.heartbeatManager();
        if (SESSION_PARAMETERS == 2) {
            return (Boolean) Reflect.call(heartbeats, "hasValidSession", broker.id(), broker.epoch());
        }
        return (Boolean) Reflect.call(heartbeats, "hasValidSession", broker.id());
    }

    /** Renews the session and nothing else: the metadata offset that the broker reported stays. */
    private static void keepAlive(Managers managers, BrokerRegistration broker) {
        if (TRACKS_HEARTBEATS) {
            Reflect.call(managers.cluster, "trackBrokerHeartbeat", broker.id(), broker.epoch());
            return;
        }
        BrokerHeartbeatManager heartbeats = managers.cluster.heartbeatManager();
        Object state = ((Map<?, ?>) Reflect.field(heartbeats, "brokers")).get(broker.id());
        heartbeats.touch(broker.id(), broker.fenced(), (Long) Reflect.field(state, "metadataOffset"));
    }

    static String unregister(Subject subject, Arguments arguments) {
        subject.commit(subject.managers().replication.unregisterBroker(arguments.broker("broker")).records());
        return Operations.DONE;
    }
}

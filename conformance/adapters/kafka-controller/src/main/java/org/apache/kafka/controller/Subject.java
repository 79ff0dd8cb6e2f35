package org.apache.kafka.controller;

import org.apache.kafka.server.common.ApiMessageAndVersion;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The controller under test: its managers, the log of its records, and a broker that reads that log.
 * The next offset of the log is also the next broker epoch, as in QuorumController.
 */
final class Subject {
    final Release release;
    final Names names;
    /** The metadata offset up to which each broker last said that it had read. */
    final Map<Integer, Long> read = new HashMap<>();
    private final List<ApiMessageAndVersion> log = new ArrayList<>();
    private final List<Long> offsets = new ArrayList<>();
    private final Observation ofController;
    private final Observation ofImage;
    private Managers managers;
    private BrokerImage image = new BrokerImage();
    private long nextOffset = 1;
    private RuntimeException imageFailure;

    Subject(Release release, Names names) {
        this.release = release;
        this.names = names;
        this.managers = new Managers(release);
        this.ofController = new Observation(names);
        this.ofImage = new Observation(names);
    }

    Managers managers() {
        return managers;
    }

    long nextOffset() {
        return nextOffset;
    }

    /** Later records come at this offset at the earliest. */
    void skipTo(long offset) {
        nextOffset = Math.max(nextOffset, offset);
    }

    /** Makes the records of one result durable and replays them, as the active controller does. */
    void commit(List<ApiMessageAndVersion> records) {
        for (ApiMessageAndVersion record : records) {
            commit(record, nextOffset++);
        }
    }

    void commit(ApiMessageAndVersion record, long offset) {
        log.add(record);
        offsets.add(offset);
        managers.replay(record, offset);
        if (imageFailure == null) {
            try {
                image.replay(record.message(), offset);
            } catch (RuntimeException failure) {
                imageFailure = failure;
            }
        }
    }

    int recordCount() {
        return log.size();
    }

    /** Another controller takes over: all it knows is the log. */
    void failover() {
        managers = new Managers(release);
        for (int i = 0; i < log.size(); i++) {
            managers.replay(log.get(i), offsets.get(i));
        }
        managers.activate();
    }

    /** Another controller takes over that begins with a snapshot, as the brokers do: it replaces the log. */
    void loadSnapshot() {
        BrokerImage whole = new BrokerImage();
        for (int i = 0; i < log.size(); i++) {
            whole.replay(log.get(i).message(), offsets.get(i));
            whole.apply(offsets.get(i));
        }
        List<ApiMessageAndVersion> records = whole.snapshot(release);
        log.clear();
        offsets.clear();
        managers = new Managers(release);
        image = new BrokerImage();
        long end = nextOffset - 1;
        records.forEach(record -> commit(record, end));
        image.apply(end);
        managers.activate();
    }

    String observe() {
        return ofController.ofController(managers, release);
    }

    /** What the broker sees once it applied all records; throws what its image threw, once and for all. */
    String observeImage() {
        if (imageFailure == null) {
            try {
                image.apply(nextOffset - 1);
                return ofImage.ofImage(image);
            } catch (RuntimeException failure) {
                imageFailure = failure;
            }
        }
        throw imageFailure;
    }
}

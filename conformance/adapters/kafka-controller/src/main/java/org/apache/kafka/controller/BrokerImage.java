package org.apache.kafka.controller;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.TopicImage;
import org.apache.kafka.metadata.BrokerRegistration;
import org.apache.kafka.metadata.PartitionRegistration;
import org.apache.kafka.server.common.ApiMessageAndVersion;

import java.lang.reflect.Constructor;
import java.util.List;

/** The metadata as a broker sees it: the controller's records, gathered in deltas and applied at boundaries. */
final class BrokerImage implements Observation.Source {
    private static final Class<?> BUILDER = Reflect.classOrNull("org.apache.kafka.image.MetadataDelta$Builder");
    private static final Class<?> PROVENANCE = Reflect.classOrNull("org.apache.kafka.image.MetadataProvenance");
    private static final int REPLAY_PARAMETERS = replayParameters();
    private static final int PROVENANCE_PARAMETERS =
        PROVENANCE == null ? 0 : PROVENANCE.getDeclaredConstructors()[0].getParameterCount();

    private static final Class<?> RECORD_LIST = Reflect.classOrNull("org.apache.kafka.image.writer.RecordListWriter");
    private static final Class<?> OPTIONS = Reflect.classOrNull("org.apache.kafka.image.writer.ImageWriterOptions$Builder");

    private MetadataImage image = MetadataImage.EMPTY;
    private MetadataDelta delta;

    void replay(ApiMessage record, long offset) {
        if (delta == null) {
            delta = newDelta(image);
        }
        if (REPLAY_PARAMETERS == 1) {
            delta.replay(record);
        } else {
            Reflect.call(delta, "replay", offset, 1, record);
        }
    }

    /** Applies what was gathered. */
    void apply(long lastOffset) {
        if (delta == null) {
            return;
        }
        MetadataDelta gathered = delta;
        delta = null;
        if (PROVENANCE == null) {
            image = (MetadataImage) Reflect.call(gathered, "apply");
        } else if (PROVENANCE_PARAMETERS == 3) {
            image = (MetadataImage) Reflect.call(gathered, "apply", Reflect.make(PROVENANCE, lastOffset, 1, 0L));
        } else {
            image = (MetadataImage) Reflect.call(gathered, "apply", Reflect.make(PROVENANCE, lastOffset, 1, 0L, true));
        }
    }

    /** Whether a snapshot is written as records of an image, as it is from 3.4 on. */
    static boolean writesSnapshots() {
        return RECORD_LIST != null;
    }

    /** What a snapshot of all that was applied has. */
    @SuppressWarnings("unchecked")
    List<ApiMessageAndVersion> snapshot(Release release) {
        Object writer = Reflect.make(RECORD_LIST);
        Reflect.call(image, "write", writer, Reflect.call(options(release), "build"));
        return (List<ApiMessageAndVersion>) Reflect.call(writer, "records");
    }

    /** From 4.0 on an image says itself how it is written; before, by its metadata version. */
    private Object options(Release release) {
        for (Constructor<?> made : OPTIONS.getDeclaredConstructors()) {
            if (made.getParameterCount() == 1 && made.getParameterTypes()[0] == MetadataImage.class) {
                return Reflect.make(OPTIONS, image);
            }
        }
        Object options = Reflect.make(OPTIONS);
        Reflect.call(options, "setMetadataVersion", release.metadataVersion());
        return options;
    }

    @Override
    public Uuid topicId(String topic) {
        TopicImage found = image.topics().getTopic(topic);
        return found == null ? null : found.id();
    }

    @Override
    public PartitionRegistration partition(Uuid topicId) {
        return image.topics().getPartition(topicId, 0);
    }

    @Override
    public BrokerRegistration registration(int broker) {
        return image.cluster().broker(broker);
    }

    private static MetadataDelta newDelta(MetadataImage image) {
        if (BUILDER == null) {
            return (MetadataDelta) Reflect.make(MetadataDelta.class, image);
        }
        Object builder = Reflect.make(BUILDER);
        Reflect.call(builder, "setImage", image);
        return (MetadataDelta) Reflect.call(builder, "build");
    }

    private static int replayParameters() {
        return Reflect.arity(MetadataDelta.class, "replay");
    }
}

package org.apache.kafka.controller;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.TopicImage;
import org.apache.kafka.metadata.BrokerRegistration;
import org.apache.kafka.metadata.PartitionRegistration;

/** The metadata as a broker sees it: the controller's records, gathered in deltas and applied at boundaries. */
final class BrokerImage implements Observation.Source {
    private static final Class<?> BUILDER = Reflect.classOrNull("org.apache.kafka.image.MetadataDelta$Builder");
    private static final Class<?> PROVENANCE = Reflect.classOrNull("org.apache.kafka.image.MetadataProvenance");
    private static final int REPLAY_PARAMETERS = replayParameters();
    private static final int PROVENANCE_PARAMETERS =
        PROVENANCE == null ? 0 : PROVENANCE.getDeclaredConstructors()[0].getParameterCount();

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

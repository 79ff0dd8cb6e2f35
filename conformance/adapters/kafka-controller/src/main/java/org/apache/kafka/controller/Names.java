package org.apache.kafka.controller;

import org.apache.kafka.common.Uuid;

import java.util.ArrayList;
import java.util.List;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/** What the elements and topic ids of one question are called in the controller, both ways. */
final class Names {
    private static final long DIRECTORY = 0x4449_5245_4354_0000L;
    private static final long INCARNATION = 0x494e_4341_524e_0000L;
    private static final long TOPIC = 0x544f_5049_4349_0000L;
    private static final long NEVER = 0x4e45_5645_5200_0000L;

    private final TreeMap<String, Integer> brokers = new TreeMap<>();
    private final Map<Integer, String> brokerTexts = new HashMap<>();
    private final TreeMap<String, String> topics = new TreeMap<>();
    private final Map<Uuid, String> tokens = new HashMap<>();
    private final Map<String, Uuid> topicIds = new HashMap<>();
    private int issued;

    /** `sorts` maps each sort to its elements and their concrete numbers. */
    Names(Map<?, ?> sorts) {
        elements(sorts, "Broker").forEach((name, id) -> {
            brokers.put((String) name, ((Long) id).intValue());
            brokerTexts.put(((Long) id).intValue(), Json.quote((String) name));
        });
        elements(sorts, "Topic").forEach((name, id) -> topics.put((String) name, "topic-" + id));
    }

    private static Map<?, ?> elements(Map<?, ?> sorts, String sort) {
        return sorts.get(sort) instanceof Map<?, ?> elements ? elements : Map.of();
    }

    /** Names of brokers in order, with their ids. */
    TreeMap<String, Integer> brokers() {
        return brokers;
    }

    /** Names of topics in order, with what they are called in the controller. */
    TreeMap<String, String> topics() {
        return topics;
    }

    int broker(Object name) {
        Integer id = brokers.get(name);
        if (id == null) {
            throw Refusal.error("no broker is called " + name);
        }
        return id;
    }

    List<Integer> brokers(Object list) {
        List<Integer> ids = new ArrayList<>();
        for (Object name : (List<?>) list) {
            ids.add(broker(name));
        }
        return ids;
    }

    String topic(Object name) {
        String found = topics.get(name);
        if (found == null) {
            throw Refusal.error("no topic is called " + name);
        }
        return found;
    }

    /** The JSON text of a broker's name; null for no broker (-1). */
    String text(int broker) {
        if (broker < 0) {
            return "null";
        }
        String text = brokerTexts.get(broker);
        if (text == null) {
            throw Refusal.error("the controller names broker " + broker + ", which the question has not");
        }
        return text;
    }

    static Uuid firstIncarnation(int broker) {
        return new Uuid(INCARNATION, broker);
    }

    /** The incarnation after `id`: that of the next process of the same broker. */
    static Uuid nextIncarnation(Uuid id) {
        return new Uuid(id.getMostSignificantBits() + 1, id.getLeastSignificantBits());
    }

    /** Two directories each, because an empty list of directories has a meaning of its own. */
    static List<Uuid> directories(int broker) {
        return List.of(new Uuid(DIRECTORY, broker), new Uuid(DIRECTORY + 1, broker));
    }

    /** The token of a topic id; ids that the controller makes are numbered in the order they are seen. */
    String token(Uuid id) {
        String token = tokens.get(id);
        if (token == null) {
            do {
                token = "~" + ++issued;
            } while (topicIds.containsKey(token));
            tokens.put(id, token);
            topicIds.put(token, id);
        }
        return token;
    }

    /** A message of the controller with its random topic ids replaced, so that equal faults read equal. */
    String withTokens(String message) {
        String readable = message;
        for (Map.Entry<Uuid, String> entry : tokens.entrySet()) {
            readable = readable.replace(entry.getKey().toString(), entry.getValue());
        }
        return readable;
    }

    /** The id behind a token; one that was not seen yet gets an id of its own. */
    Uuid topicId(String token) {
        return topicIds.computeIfAbsent(token, unseen -> {
            Uuid made = new Uuid(TOPIC, topicIds.size() + 1L);
            tokens.put(made, unseen);
            return made;
        });
    }

    static Uuid neverIssuedTopicId() {
        return new Uuid(NEVER, 1);
    }
}

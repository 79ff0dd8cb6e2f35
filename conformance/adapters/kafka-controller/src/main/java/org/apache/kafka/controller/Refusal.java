package org.apache.kafka.controller;

/** The adapter, and not the controller, cannot answer a question: a status of the protocol and why. */
final class Refusal extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private final String status;

    private Refusal(String status, String detail) {
        super(detail, null, false, false);
        this.status = status;
    }

    /** One of unresolved, unsupported, not_loadable, error. */
    String status() {
        return status;
    }

    /** A reference whose path leads nowhere in what was observed. */
    static Refusal unresolved(String detail) {
        return new Refusal("unresolved", detail);
    }

    /** This release cannot do it. */
    static Refusal unsupported(String capability) {
        return new Refusal("unsupported", capability);
    }

    /** The given state is not what the controller shows after its records were replayed. */
    static Refusal notLoadable(String detail) {
        return new Refusal("not_loadable", detail);
    }

    /** The question does not fit the protocol, or the jars do not fit the adapter. */
    static Refusal error(String detail) {
        return new Refusal("error", detail);
    }
}

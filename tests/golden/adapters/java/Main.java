import charter.Protocol;
import charter.Protocol.*;
import charter.Sdk;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** An adapter of the component library of sample.kinds: it drives one implementation. */
public final class Main implements Protocol.Adapter {
    public static void main(String[] args) throws Exception {
        Protocol.serve(Protocol.about("library", "0.1"), new Main());
    }

    /**
     * Clears everything of earlier questions, and configures the implementation with the
     * constants of this one. A given state is loaded if the adapter claims `load`.
     */
    @Override
    public void start(Question question) {}

    /** Returns the state as it is. */
    @Override
    public Observation observe() {
        return new Observation(Map.of(), Set.of(), Map.of(), Map.of(), Map.of(), Set.of());
    }

    /**
     * A node comes, with a cookie of its own.
     *
     * S1 joining
     */
    @Override
    public Reply joinLibrary(
        Node node,
        Cookie cookie,
        Optional<SessionId> sessionId,
        Map<Node, Status> statuses
    ) {
        throw new Sdk.Unsupported("join_library");
    }

    @Override
    public Optional<Member> handle(List<Order> orders, Set<Epoch> epochs, Map<Integer, Epoch> at) {
        throw new Sdk.Unsupported("handle");
    }

    @Override
    public boolean failover() {
        throw new Sdk.Unsupported("failover");
    }

    @Override
    public Set<SessionId> type(Move move, int limit) {
        throw new Sdk.Unsupported("type");
    }
}

import charter.Protocol;
import charter.Protocol.*;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;
import lease.LeaseService;

/** An adapter of the component service of lease: it drives the lease service in lease/. */
public final class Main implements Protocol.Adapter {
    private LeaseService service;

    public static void main(String[] args) throws Exception {
        Protocol.serveSessions(Protocol.about("lease-java", "1.0", "load"), Main::new, 64);
    }

    @Override
    public void start(Question question) {
        service = new LeaseService(question.consts().ttl());
        for (Lock lock : question.sorts().lock().keySet()) {
            service.locks().put(lock.name(), new LeaseService.Lock());
        }
        question.given().ifPresent(this::load);
    }

    private void load(Given given) {
        given.newest().forEach((lock, token) ->
            service.locks().get(lock.name()).newest = token.value());
        given.lease().forEach((lock, held) ->
            service.locks().get(lock.name()).lease = held.map(Main::loaded).orElse(null));
    }

    private static LeaseService.Lease loaded(Lease held) {
        return new LeaseService.Lease(held.holder().name(), held.token().value(), held.left());
    }

    @Override
    public Observation observe() {
        Map<Lock, Optional<Lease>> leases = new LinkedHashMap<>();
        Map<Lock, Token> newest = new LinkedHashMap<>();
        service.locks().forEach((name, lock) -> {
            leases.put(new Lock(name), Optional.ofNullable(lock.lease).map(Main::shown));
            newest.put(new Lock(name), new Token(lock.newest));
        });
        return new Observation(leases, newest);
    }

    private static Lease shown(LeaseService.Lease lease) {
        return new Lease(new Client(lease.holder), new Token(lease.token), lease.left);
    }

    @Override
    public Acquired acquire(Client client, Lock lock) {
        OptionalLong token = service.acquire(client.name(), lock.name());
        return token.isPresent() ? new Granted(new Token(token.getAsLong())) : new Busy();
    }

    @Override
    public boolean renew(Client client, Lock lock, Token token) {
        return service.renew(client.name(), lock.name(), token.value());
    }

    @Override
    public boolean release(Client client, Lock lock, Token token) {
        return service.release(client.name(), lock.name(), token.value());
    }

    @Override
    public Set<Lock> tick() {
        return service.tick().stream().map(Lock::new).collect(Collectors.toSet());
    }
}

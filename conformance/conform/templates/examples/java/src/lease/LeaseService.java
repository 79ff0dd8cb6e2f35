package lease;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/** A lease service in memory, the implementation that is judged. */
public final class LeaseService {
    // Two planted bugs for the judge to find; set them to false to mend the service.
    /** A lock that was released is granted again with its old token. */
    private static final boolean TOKEN_IS_REUSED = true;
    /** A lease that was released can still be renewed. */
    private static final boolean RELEASED_IS_RENEWED = true;

    /** A lock: its newest token, its lease (or null), and the last lease that was released. */
    public static final class Lock {
        public long newest;
        public Lease lease;
        private Lease released;

        private boolean isHeld(String client, long token) {
            return lease != null && lease.holder.equals(client) && lease.token == token;
        }
    }

    /** Who holds a lock, with which token, for how many more ticks. */
    public static final class Lease {
        public final String holder;
        public final long token;
        public int left;

        public Lease(String holder, long token, int left) {
            this.holder = holder;
            this.token = token;
            this.left = left;
        }
    }

    private final int ttl;
    private final Map<String, Lock> locks = new LinkedHashMap<>();

    /** Leases last {@code ttl} ticks. */
    public LeaseService(int ttl) {
        this.ttl = ttl;
    }

    public Map<String, Lock> locks() {
        return locks;
    }

    /** Returns the token of the new lease, or nothing if somebody holds the lock. */
    public OptionalLong acquire(String client, String name) {
        Lock lock = locks.get(name);
        if (lock.lease != null) {
            return OptionalLong.empty();
        }
        if (lock.released == null || !TOKEN_IS_REUSED) {
            lock.newest++;
        }
        lock.lease = new Lease(client, lock.newest, ttl);
        return OptionalLong.of(lock.newest);
    }

    public boolean renew(String client, String name, long token) {
        Lock lock = locks.get(name);
        if (lock.lease == null && RELEASED_IS_RENEWED) {
            lock.lease = lock.released;
            lock.released = null;
        }
        if (!lock.isHeld(client, token)) {
            return false;
        }
        lock.lease.left = ttl;
        return true;
    }

    public boolean release(String client, String name, long token) {
        Lock lock = locks.get(name);
        if (!lock.isHeld(client, token)) {
            return false;
        }
        lock.released = lock.lease;
        lock.lease = null;
        return true;
    }

    /** Lets time pass, and returns the locks whose leases end. */
    public List<String> tick() {
        List<String> ended = new ArrayList<>();
        locks.forEach((name, lock) -> {
            if (lock.lease != null && --lock.lease.left == 0) {
                lock.lease = null;
                ended.add(name);
            }
        });
        return ended;
    }
}

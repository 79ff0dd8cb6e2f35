package org.apache.kafka.controller;

import org.apache.kafka.common.utils.Time;

import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** A clock that only an operation moves. */
final class Clock implements Time {
    /** Long enough that no rounding matters, in nanoseconds. */
    static final long SESSION_TIMEOUT = TimeUnit.SECONDS.toNanos(9);

    private long nanoseconds = TimeUnit.DAYS.toNanos(1);

    @Override
    public long milliseconds() {
        return TimeUnit.NANOSECONDS.toMillis(nanoseconds);
    }

    @Override
    public long nanoseconds() {
        return nanoseconds;
    }

    @Override
    public void sleep(long milliseconds) {
        nanoseconds += TimeUnit.MILLISECONDS.toNanos(milliseconds);
    }

    void passSessionTimeout() {
        nanoseconds += SESSION_TIMEOUT + TimeUnit.MILLISECONDS.toNanos(1);
    }

    // Abstract before 4.4, so it is here; nothing that is driven waits.
    public void waitObject(Object object, Supplier<Boolean> condition, long deadline) {
        throw new IllegalStateException("nothing here waits");
    }
}

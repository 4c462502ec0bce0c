import Glibc

/// Milliseconds on the machine's monotonic clock, for deadlines of connections.
///
/// The coarse clock is right to a few milliseconds and costs a read of memory: it is asked several times a request.
enum MonotonicClock {
    static func milliseconds() -> Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}

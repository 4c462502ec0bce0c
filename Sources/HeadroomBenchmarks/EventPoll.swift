import Glibc

/// Waits for many sockets at once, by epoll(7), which the C library's module does not show.
@safe final class EventPoll {
    private typealias Create = @convention(c) (Int32) -> Int32
    private typealias Control = @convention(c) (Int32, Int32, Int32, UnsafeMutableRawPointer) -> Int32
    private typealias Wait = @convention(c) (Int32, UnsafeMutableRawPointer, Int32, Int32) -> Int32

    private let handle: Int32
    private let control: Control
    private let wait: Wait
    private let events: UnsafeMutableRawBufferPointer

    /// The kernel packs an event on x86-64 alone: four bytes of flags, and eight of the caller's.
    #if arch(x86_64)
        private static let (stride, place) = (12, 4)
    #else
        private static let (stride, place) = (16, 8)
    #endif
    private static let most = 512
    /// `EPOLLIN` and `EPOLL_CTL_ADD`.
    private static let (readable, add): (UInt32, Int32) = (1, 1)

    struct Fault: Error {}

    init() throws(Fault) {
        guard let create = unsafe dlsym(nil, "epoll_create1"), let control = unsafe dlsym(nil, "epoll_ctl"),
            let wait = unsafe dlsym(nil, "epoll_wait")
        else { throw Fault() }
        unsafe self.control = unsafeBitCast(control, to: Control.self)
        unsafe self.wait = unsafeBitCast(wait, to: Wait.self)
        unsafe handle = unsafeBitCast(create, to: Create.self)(0)
        unsafe events = .allocate(byteCount: EventPoll.most * EventPoll.stride, alignment: 8)
    }

    deinit {
        close(handle)
        unsafe events.deallocate()
    }

    func add(_ socket: Int32, as number: Int) throws(Fault) {
        guard let event = unsafe events.baseAddress else { throw Fault() }
        unsafe event.storeBytes(of: EventPoll.readable, as: UInt32.self)
        unsafe event.storeBytes(of: UInt64(number), toByteOffset: EventPoll.place, as: UInt64.self)
        guard unsafe control(handle, EventPoll.add, socket, event) == 0 else { throw Fault() }
    }

    /// The numbers of those that have something to read; empty after `milliseconds` without any.
    func readable(withinMilliseconds milliseconds: Int32) -> [Int] {
        guard let start = unsafe events.baseAddress else { return [] }
        let count = unsafe Int(wait(handle, start, Int32(EventPoll.most), milliseconds))
        return (0..<max(count, 0)).map { index in
            let offset = index * EventPoll.stride + EventPoll.place
            return Int(unsafe start.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
    }
}

/// On the clock that all processes of the machine share.
func monotonicNanoseconds() -> Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

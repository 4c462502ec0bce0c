import Dispatch
import HeadroomModel
import Synchronization

/// Calls back at an instant, or earlier if somebody asks for an earlier one meanwhile.
@safe final class Alarm: @unchecked Sendable {
    // Sendable: a dispatch source may be used from any thread, and `next` is behind a lock.
    private let timer: any DispatchSourceTimer
    private let time: TimeSource
    private let next = Mutex<Timestamp?>(nil)

    init(time: TimeSource, _ ring: @escaping @Sendable () -> Void) {
        self.time = time
        timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "headroom.client.alarm"))
        timer.setEventHandler { [weak self] in
            self?.next.withLock { $0 = nil }
            ring()
        }
        timer.schedule(deadline: .distantFuture)
        timer.activate()
    }

    deinit { timer.cancel() }

    func ring(by instant: Timestamp) {
        next.withLock { next in
            if let next, next <= instant { return }
            next = instant
            let milliseconds = max(0, instant.milliseconds - time.now().milliseconds)
            timer.schedule(
                deadline: .now() + .milliseconds(Int(min(milliseconds, 3_600_000))), leeway: .microseconds(100))
        }
    }
}

import CGnuTLS
import CMicroHTTPD
import Glibc
import Synchronization

/// An HTTP server on libmicrohttpd: a few epoll threads that ask a ``Router`` for handlers.
///
/// Each thread runs a daemon of its own. It reads up to 128 events at once, and as long as there were 128 it waits for more
/// before it answers: when exactly 128 clients call and all others are parked, they would wait until the next event,
/// whenever that is. The tick wakes each thread, so that such a wait ends with it.
///
/// The library closes connections that are idle in its sense, in which one byte a second is busy. Each connection
/// therefore has a deadline of ours, and a thread that cuts those which are past it.
final class MicroHTTPDServer: Sendable {
    let settings: ServerSettings
    let router: Router
    let calls: CallQueue
    let bodyBudget: BodyBudget
    let failedSignIns: FailedSignIns
    let delayedAnswers = DelayedAnswers()
    /// Parked exchanges whose handler has not been asked again yet.
    let parkedCount = Atomic(0)
    private let stopping = Atomic(false)
    private let connections = ConnectionTable()
    private let running = Mutex<Running?>(nil)

    private struct Running {
        let workers: [Worker]
        let ticker: Ticker
    }

    @safe private struct Worker: @unchecked Sendable {
        // Sendable: the library's daemon may be used from any thread.
        let daemon: OpaquePointer
        /// Written to, it wakes the daemon's thread.
        let waker: Int32
    }

    init(settings: ServerSettings, router: Router, failedSignIns: FailedSignIns = FailedSignIns()) {
        self.settings = settings
        self.router = router
        self.failedSignIns = failedSignIns
        calls = CallQueue(limit: settings.callsInFlight)
        bodyBudget = BodyBudget(limit: settings.bodyBytesInFlight)
    }

    /// From now on each answer is its connection's last, and nothing is parked for long.
    var isStopping: Bool { stopping.load(ordering: .relaxed) }

    var connectionCount: Int { connections.count }

    /// Listens. `onTick` runs some twenty times a second on a thread of the server's own.
    func start(onTick: @escaping @Sendable () -> Void) throws(HTTPError) -> ListenAddress {
        if settings.certificate != nil, MHD_is_feature_supported(.FEATURE_TLS) != .YES {
            throw HTTPError(.badCertificate, "this machine's libmicrohttpd was built without TLS")
        }
        let listener: ListeningSocket
        if let socket = settings.socket { listener = socket } else { listener = try ListeningSocket(settings.listen) }
        try listener.listen()
        var workers: [Worker] = []
        for number in 0..<settings.threads {
            do throws(HTTPError) {
                workers.append(try startWorker(number, listener))
            } catch {
                end(workers)
                throw error
            }
        }
        let started = workers
        let left = LeftClients(connections)
        let ticker = Ticker(periodMilliseconds: settings.tickMilliseconds) {
            onTick()
            let now = MonotonicClock.milliseconds()
            self.delayedAnswers.tick(now)
            self.connections.cutOverdue(at: now)
            left.look(at: now)
            for worker in started { eventfd_write(worker.waker, 1) }
        }
        running.withLock { $0 = Running(workers: workers, ticker: ticker) }
        return listener.address
    }

    /// - Parameter listener: its descriptor goes to the first daemon, which closes it; the others have one of their own.
    private func startWorker(_ number: Int, _ listener: ListeningSocket) throws(HTTPError) -> Worker {
        func failure(_ code: Int32) -> HTTPError {
            let reason = unsafe String(cString: strerror(code))
            return HTTPError(.cannotListen, "the HTTP server cannot start on \(listener.address): \(reason)")
        }
        var flags =
            MHD_USE_EPOLL_INTERNAL_THREAD.rawValue | MHD_ALLOW_SUSPEND_RESUME.rawValue | MHD_USE_TURBO.rawValue
        if settings.certificate != nil { flags |= MHD_USE_TLS.rawValue }
        let descriptor = number == 0 ? listener.descriptor : fcntl(listener.descriptor, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { throw failure(errno) }
        // The daemon holds one reference from here until its end.
        let context = unsafe Unmanaged.passRetained(self).toOpaque()
        let options = unsafe options(context: context, listener: descriptor)
        guard let daemon = unsafe headroom_mhd_start(flags, admitConnection, handleRequest, context, options) else {
            let code = errno
            Glibc.close(descriptor)
            unsafe Unmanaged<MicroHTTPDServer>.fromOpaque(context).release()
            throw failure(code)
        }
        let worker = unsafe Worker(daemon: daemon, waker: headroom_mhd_waker(daemon))
        guard worker.waker >= 0 else {
            end([worker])
            throw failure(ENOTSUP)
        }
        return worker
    }

    private func end(_ workers: [Worker]) {
        for worker in workers {
            // It closes the socket that listens.
            unsafe MHD_stop_daemon(worker.daemon)
            if worker.waker >= 0 { Glibc.close(worker.waker) }
            unsafe Unmanaged.passUnretained(self).release()
        }
    }

    /// First step of the end; those who keep lists of parked exchanges resume them all after it.
    func beginStopping() {
        stopping.store(true, ordering: .sequentiallyConsistent)
        delayedAnswers.close()
    }

    /// Last step: no new connection, a bounded wait for the open ones, the end. Blocks.
    ///
    /// The library aborts the process when it is stopped with a connection suspended; hence the order. Its own way to
    /// stop listening, `MHD_quiesce_daemon`, aborts it too when the daemon's thread wakes meanwhile (both take the
    /// socket out of the thread's epoll set, and the second finds nothing): connections are refused one by one.
    func finish() {
        guard let running = running.withLock({ $0.take() }) else { return }
        wait(milliseconds: settings.stopMilliseconds) {
            self.connections.closeIdle()
            return self.connections.count == 0
        }
        calls.abandon(
            with: HTTPResponse(
                HTTPError(.stopping, "the service stopped before the call was done", retryAfterSeconds: 1)))
        wait(milliseconds: 1000) { self.parkedCount.load(ordering: .relaxed) == 0 }
        running.ticker.stop()
        // A thread of the library that has not come back by now is stuck; its daemon is left to the process's end.
        guard parkedCount.load(ordering: .relaxed) == 0 else { return }
        end(running.workers)
    }

    private func wait(milliseconds: Int64, until isDone: () -> Bool) {
        let end = MonotonicClock.milliseconds() + milliseconds
        while !isDone(), MonotonicClock.milliseconds() < end { usleep(2000) }
    }

    private func options(context: UnsafeMutableRawPointer, listener: Int32) -> [MHD_OptionItem] {
        let completed: MHD_RequestCompletedCallback = unsafe handleCompletion
        let changed: MHD_NotifyConnectionCallback = unsafe handleConnection
        let received:
            @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, OpaquePointer?) ->
                UnsafeMutableRawPointer? = unsafe handleTarget
        // Options take functions as integers.
        return unsafe tlsOptions + [
            MHD_OptionItem(option: .LISTEN_SOCKET, value: Int(listener), ptr_value: nil),
            MHD_OptionItem(
                option: .CONNECTION_LIMIT, value: max(1, settings.connectionLimit / settings.threads), ptr_value: nil),
            MHD_OptionItem(option: .CONNECTION_MEMORY_LIMIT, value: ServerSettings.connectionBytes, ptr_value: nil),
            MHD_OptionItem(
                option: .CONNECTION_TIMEOUT, value: Int(settings.patience.idle + 999) / 1000, ptr_value: nil),
            MHD_OptionItem(
                option: .NOTIFY_COMPLETED, value: unsafeBitCast(completed, to: Int.self), ptr_value: context),
            MHD_OptionItem(
                option: .NOTIFY_CONNECTION, value: unsafeBitCast(changed, to: Int.self), ptr_value: context),
            MHD_OptionItem(
                option: .URI_LOG_CALLBACK, value: unsafeBitCast(received, to: Int.self), ptr_value: context),
            MHD_OptionItem(option: .END, value: 0, ptr_value: nil),
        ]
    }

    private var tlsOptions: [MHD_OptionItem] {
        guard settings.certificate != nil else { return unsafe [] }
        let choose:
            @convention(c) (
                gnutls_session_t?, UnsafePointer<gnutls_datum_t>?, Int32, UnsafePointer<gnutls_pk_algorithm_t>?, Int32,
                UnsafeMutablePointer<UnsafeMutablePointer<gnutls_pcert_st>?>?, UnsafeMutablePointer<UInt32>?,
                UnsafeMutablePointer<gnutls_privkey_t?>?
            ) -> Int32 = unsafe chooseCertificate
        // These two options are pointers to the library. The priorities live for ever.
        return unsafe [
            MHD_OptionItem(
                option: .HTTPS_PRIORITIES, value: 0,
                ptr_value: UnsafeMutableRawPointer(mutating: tlsPriorities.utf8Start)),
            MHD_OptionItem(
                option: .HTTPS_CERT_CALLBACK, value: 0,
                ptr_value: unsafeBitCast(choose, to: UnsafeMutableRawPointer.self)),
        ]
    }

    fileprivate func open(_ connection: OpaquePointer) -> HTTPExchange {
        let exchange = unsafe HTTPExchange(server: self, connection: connection)
        connections.add(exchange)
        return exchange
    }

    fileprivate func close(_ exchange: HTTPExchange) {
        connections.remove(exchange)
    }
}

// MARK: Callbacks
// At file scope: a closure would inherit the isolation of where it is written, and trap on the library's threads.
// A connection's exchange is owned by the pointer that the library keeps for its socket.

private func admitConnection(
    _ context: UnsafeMutableRawPointer?, _ address: UnsafePointer<sockaddr>?, _ addressCount: socklen_t
) -> MHD_Result {
    guard let context = unsafe context else { return .NO }
    return unsafe Unmanaged<MicroHTTPDServer>.fromOpaque(context).takeUnretainedValue().isStopping ? .NO : .YES
}

private func handleConnection(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
    _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ change: MHD_ConnectionNotificationCode
) {
    guard let context = unsafe context, let connection = unsafe connection, let slot = unsafe slot else { return }
    let server = unsafe Unmanaged<MicroHTTPDServer>.fromOpaque(context).takeUnretainedValue()
    if change == .CONNECTION_NOTIFY_STARTED {
        unsafe slot.pointee = Unmanaged.passRetained(server.open(connection)).toOpaque()
    } else if let exchange = unsafe slot.pointee {
        unsafe server.close(Unmanaged<HTTPExchange>.fromOpaque(exchange).takeRetainedValue())
        unsafe slot.pointee = nil
    }
}

private func handleTarget(
    _ context: UnsafeMutableRawPointer?, _ target: UnsafePointer<CChar>?, _ connection: OpaquePointer?
) -> UnsafeMutableRawPointer? {
    guard let target = unsafe target, let pointer = unsafe headroom_mhd_socket_context(connection) else { return nil }
    unsafe Unmanaged<HTTPExchange>.fromOpaque(pointer).takeUnretainedValue().receive(target: target)
    // It comes back as each later callback's `request`.
    return unsafe pointer
}

private func handleRequest(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ url: UnsafePointer<CChar>?,
    _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?, _ chunk: UnsafePointer<CChar>?,
    _ chunkCount: UnsafeMutablePointer<Int>?, _ request: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard
        let exchange = unsafe request?.pointee, let method = unsafe method, let version = unsafe version,
        let chunkCount = unsafe chunkCount
    else { return .NO }
    return unsafe Unmanaged<HTTPExchange>.fromOpaque(exchange).takeUnretainedValue().proceed(
        method: method, version: version, chunk: chunk, chunkCount: chunkCount)
}

private func handleCompletion(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
    _ request: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ reason: MHD_RequestTerminationCode
) {
    guard let exchange = unsafe request?.pointee else { return }
    unsafe Unmanaged<HTTPExchange>.fromOpaque(exchange).takeUnretainedValue().complete(
        isDelivered: reason == .REQUEST_TERMINATED_COMPLETED_OK)
}

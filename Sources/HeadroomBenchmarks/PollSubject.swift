import Foundation
import HeadroomHTTP
import HeadroomModel
import HeadroomWire

/// Headroom's own server, in this process, with a token and a published generation.
struct PollSubject: PollTarget {
    let port: UInt16
    let body: [UInt8]
    private let service: HTTPService
    private let etag: String

    private struct NoSink: TelemetrySink {
        func append(_ batch: TelemetryBatch) async throws(TelemetryError) -> TelemetryReceipt {
            TelemetryReceipt(accepted: 0, duplicate: 0, late: 0, rejected: [])
        }
    }

    init() throws {
        let time = TimeSource.anchored(atMillisecondsSince1970: Int64(Date().timeIntervalSince1970 * 1000))
        let board = SnapshotBoard(time: time)
        let token = AccessToken(
            name: "gw", role: .gateway, gateways: ["gw-1"], secretDigest: Array("secret".utf8))
        var settings = ServerSettings(listen: ListenAddress(host: "127.0.0.1", port: 0))
        settings.threads = 1
        service = HTTPService(
            settings: settings, board: board, access: AccessControl(tokens: [token], time: time) { $0 },
            telemetry: TelemetryIntake(
                decoder: TelemetryDecoder { _ in ProviderSignal(kind: .ok) }, sink: NoSink(), digest: { $0 }))
        port = try service.start().port
        let publication = PollBenchmark.publication(generation: 1842)
        board.publish(publication)
        body = SnapshotEncoder.encode(publication.whole)
        etag = try Self.etag(port)
    }

    func request(_ status: Int) -> String { request(etag: status == 304 ? etag : nil) }

    /// The load client is another process and this one's main thread waits: what is used here is the server's.
    var cpuSeconds: Double {
        var usage = rusage()
        unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return [usage.ru_utime, usage.ru_stime].reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) * 1e-6 }
    }

    func stop() {
        let done = DispatchSemaphore(value: 0)
        Task { [service] in
            await service.stop()
            done.signal()
        }
        done.wait()
    }

    private static func etag(_ port: UInt16) throws -> String {
        let answer = try LoopbackHTTP.get(
            port, "/v1/allocations?gateway=gw-1&applied=1.1", headers: "Authorization: Bearer secret\r\n")
        guard let etag = LoopbackHTTP.header("etag", of: answer) else { throw PollBenchmark.PollFault.client }
        return etag
    }
}

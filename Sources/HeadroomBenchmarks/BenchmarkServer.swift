import Foundation
import HeadroomHTTP
import HeadroomModel
import HeadroomWire

/// Headroom's own server in this process, with one gateway token: `secret`.
struct BenchmarkServer {
    let board: SnapshotBoard
    let time: TimeSource
    let port: UInt16
    private let service: HTTPService

    private struct NoSink: TelemetrySink {
        func append(_ batch: TelemetryBatch) async throws(TelemetryError) -> TelemetryReceipt {
            TelemetryReceipt(accepted: 0, duplicate: 0, late: 0, rejected: [])
        }
    }

    /// - Parameter gateways: names or prefixes that the token may use.
    init(gateways: [String], threads: Int = 1, draws: ((TimeSource) -> DrawIntake)? = nil) throws {
        let time = TimeSource.anchored(atMillisecondsSince1970: Int64(Date().timeIntervalSince1970 * 1000))
        self.time = time
        board = SnapshotBoard(time: time)
        let token = AccessToken(
            name: "gw", role: .gateway, gateways: try GatewayNames(parsing: gateways),
            secretDigest: Array("secret".utf8))
        var settings = ServerSettings(listen: ListenAddress(host: "127.0.0.1", port: 0))
        settings.threads = threads
        service = HTTPService(
            settings: settings, board: board, access: AccessControl(tokens: [token], time: time) { $0 },
            telemetry: TelemetryIntake(
                decoder: TelemetryDecoder { _ in ProviderSignal(kind: .ok) }, sink: NoSink(), digest: { $0 }),
            draws: draws.map { $0(time) })
        port = try service.start().port
    }

    func stop() {
        let done = DispatchSemaphore(value: 0)
        Task { [service] in
            await service.stop()
            done.signal()
        }
        done.wait()
    }
}

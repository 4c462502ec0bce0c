import HeadroomHTTP
import HeadroomWire

/// Headroom's own server, in this process, with a token and a published generation.
struct PollSubject: PollTarget {
    let port: UInt16
    let body: [UInt8]
    private let server: BenchmarkServer
    let etag: String

    init() throws {
        server = try BenchmarkServer(gateways: ["gw-1"])
        port = server.port
        let publication = PollBenchmark.publication(generation: 1842)
        server.board.publish(publication)
        body = SnapshotEncoder.encode(publication.whole)
        etag = try Self.etag(port)
    }

    var cpuSeconds: Double { ownProcessorSeconds() }

    func stop() { server.stop() }

    private static func etag(_ port: UInt16) throws -> String {
        let answer = try LoopbackHTTP.get(
            port, target, headers: "Authorization: Bearer secret\r\n")
        guard let etag = LoopbackHTTP.header("etag", of: answer) else { throw PollBenchmark.PollFault.client }
        return etag
    }
}

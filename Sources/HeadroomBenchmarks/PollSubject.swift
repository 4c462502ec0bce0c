import HeadroomHTTP
import HeadroomWire

/// Headroom's own server, in this process, with a token and a published generation.
struct PollSubject: PollTarget {
    let port: UInt16
    let body: [UInt8]
    private let server: BenchmarkServer
    private let etag: String

    init() throws {
        server = try BenchmarkServer(gateways: ["gw-1"])
        port = server.port
        let publication = PollBenchmark.publication(generation: 1842)
        server.board.publish(publication)
        body = SnapshotEncoder.encode(publication.whole)
        etag = try Self.etag(port)
    }

    func request(_ status: Int) -> String { request(etag: status == 304 ? etag : nil) }

    var cpuSeconds: Double { ownProcessorSeconds() }

    func stop() { server.stop() }

    private static func etag(_ port: UInt16) throws -> String {
        let answer = try LoopbackHTTP.get(
            port, "/v1/allocations?gateway=gw-1&applied=1.1", headers: "Authorization: Bearer secret\r\n")
        guard let etag = LoopbackHTTP.header("etag", of: answer) else { throw PollBenchmark.PollFault.client }
        return etag
    }
}

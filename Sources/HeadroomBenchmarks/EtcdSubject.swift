import Foundation

/// etcd as it is installed, with one member and a directory of its own. Its watchers are gRPC streams, each on a connection
/// of its own, as gateways' polls are.
final class EtcdSubject {
    let port: UInt16
    private let process = Process()
    private let directory: BenchmarkDirectory
    private let writer: Int32
    private var calls: UInt32 = 0

    static let key = Array("headroom".utf8)
    enum Fault: Error { case notReady, socket }

    /// `nil` when there is no etcd.
    init?() throws {
        guard let program = Programs.find("etcd") else { return nil }
        port = try LoopbackHTTP.freePort()
        directory = try BenchmarkDirectory()
        let (client, peer) = ("http://127.0.0.1:\(port)", "http://127.0.0.1:\(try LoopbackHTTP.freePort())")
        process.executableURL = program
        process.arguments = [
            "--data-dir", directory.path, "--listen-client-urls", client, "--advertise-client-urls", client,
            "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default=\(peer)",
        ]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        guard EtcdSubject.waitUntilReady(port) else {
            process.terminate()
            throw Fault.notReady
        }
        writer = try LoopbackHTTP.connect(port)
        try send(GRPC.preface)
    }

    /// A watcher's whole part of the conversation.
    static var watch: [UInt8] {
        // WatchRequest.create_request.key
        let request = GRPC.field(1, GRPC.field(1, key))
        return GRPC.preface + GRPC.call("/etcdserverpb.Watch/Watch", request, stream: 1, isOpen: true)
    }

    /// Returns before the value is stored.
    func put(_ value: [UInt8]) throws {
        calls += 1
        // PutRequest.key and .value; a client's streams have odd numbers.
        let request = GRPC.field(1, EtcdSubject.key) + GRPC.field(2, value)
        try send(GRPC.call("/etcdserverpb.KV/Put", request, stream: calls * 2 - 1, isOpen: false))
    }

    var residentBytes: Int { MemoryUse.residentBytes(of: process.processIdentifier) }

    func stop() {
        close(writer)
        process.terminate()
        process.waitUntilExit()
    }

    private func send(_ bytes: [UInt8]) throws(Fault) {
        guard unsafe Glibc.send(writer, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else { throw .socket }
    }

    private static func waitUntilReady(_ port: UInt16) -> Bool {
        for _ in 0..<200 {
            let answer = try? LoopbackHTTP.get(port, "/health", headers: "Connection: close\r\n")
            if answer?.contains("true") ?? false { return true }
            usleep(50_000)
        }
        return false
    }
}

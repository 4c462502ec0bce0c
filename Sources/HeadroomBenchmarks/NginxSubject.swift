import Foundation

/// nginx with one worker and no access log, serving one file from a directory of its own.
final class NginxSubject: PollTarget {
    let port: UInt16
    private let process = Process()
    private let directory: URL
    let etag: String

    /// `nil` when there is no nginx.
    init?(body: [UInt8]) throws {
        guard let program = Programs.find("nginx") else { return nil }
        port = try LoopbackHTTP.freePort()
        directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("headroom-nginx-\(ProcessInfo.processInfo.processIdentifier)")
        let root = directory.appendingPathComponent("v1")
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        // Workers of an nginx that is started by root are another user.
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: directory.path)
        try Data(body).write(to: root.appendingPathComponent("allocations"))
        let file = directory.appendingPathComponent("nginx.conf")
        try Self.configuration(directory.path, port).write(to: file, atomically: true, encoding: .utf8)
        process.executableURL = program
        process.arguments = ["-p", directory.path, "-c", file.path]
        process.standardError = FileHandle.nullDevice
        try process.run()
        guard let etag = Self.waitUntilReady(port) else {
            process.terminate()
            throw PollBenchmark.PollFault.nginx
        }
        self.etag = etag
    }

    var cpuSeconds: Double {
        let path = "/proc/\(process.processIdentifier)/stat"
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return 0 }
        // Behind the program's name in brackets: state, parent, …; user and system time are the 12th and 13th.
        let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else { return 0 }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    func stop() {
        process.terminate()
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: directory)
    }

    /// One process, so that its processor time is all there is; connections are never closed for having served enough.
    private static func configuration(_ directory: String, _ port: UInt16) -> String {
        """
        daemon off;
        master_process off;
        pid \(directory)/nginx.pid;
        error_log \(directory)/error.log crit;
        events { worker_connections 1024; }
        http {
            access_log off;
            sendfile on;
            tcp_nopush on;
            keepalive_requests 1000000000;
            open_file_cache max=16;
            default_type application/json;
            client_body_temp_path \(directory)/body;
            proxy_temp_path \(directory)/proxy;
            fastcgi_temp_path \(directory)/fastcgi;
            uwsgi_temp_path \(directory)/uwsgi;
            scgi_temp_path \(directory)/scgi;
            server {
                listen 127.0.0.1:\(port);
                root \(directory);
            }
        }
        """
    }

    /// The file's tag, as soon as it is served.
    private static func waitUntilReady(_ port: UInt16) -> String? {
        for _ in 0..<100 {
            if let answer = try? LoopbackHTTP.get(port, "/v1/allocations", headers: "") {
                return LoopbackHTTP.header("etag", of: answer)
            }
            usleep(20000)
        }
        return nil
    }
}

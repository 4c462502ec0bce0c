import Foundation

/// A program that sends one request over and over.
enum PollLoad {
    case own
    case wrk(URL)
    case h2load(URL)

    /// Those that are installed.
    static var all: [PollLoad] {
        [.own]
            + [Programs.find("wrk").map(PollLoad.wrk), Programs.find("h2load").map(PollLoad.h2load)].compactMap { $0 }
    }

    var name: String {
        switch self {
        case .own: "own client"
        case .wrk: "wrk"
        case .h2load: "h2load"
        }
    }

    /// The answers that came, all with `status`, and the seconds that they took.
    func run(
        _ subject: some PollTarget, status: Int, connections: Int, seconds: Int
    ) throws -> (requests: Double, seconds: Double) {
        let headers = subject.headers(status)
        let address = "http://127.0.0.1:\(subject.port)\(type(of: subject).target)"
        let options = headers.flatMap { ["-H", $0] } + [address]
        switch self {
        case .own:
            let request =
                "GET \(type(of: subject).target) HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                + headers.map { $0 + "\r\n" }.joined() + "\r\n"
            let numbers = try LoadProcess.numbers(
                [
                    PollBenchmark.clientArgument, "\(subject.port)", "\(connections)", "\(seconds)", "\(status)",
                    request,
                ], count: 4)
            return (numbers[0], numbers[1])
        case .wrk(let program):
            let text = try LoadProcess.output(of: program, ["-t1", "-c\(connections)", "-d\(seconds)s"] + options)
            // "  244590 requests in 2.10s, 83.51MB read"; a line says so when answers are neither 2xx nor 3xx.
            guard !text.contains("Non-2xx"), !text.contains("Socket errors"),
                let line = text.split(separator: "\n").first(where: { $0.contains(" requests in ") }),
                let requests = Double(line.split(separator: " ")[0]),
                let elapsed = line.split(separator: " ").dropFirst(3).first.flatMap({ Double($0.prefix { $0 != "s" }) })
            else { throw PollBenchmark.PollFault.load(text) }
            return (requests, elapsed)
        case .h2load(let program):
            let text = try LoadProcess.output(
                of: program, ["--h1", "-t1", "-c\(connections)", "-D\(seconds)"] + options)
            // "status codes: 0 2xx, 122469 3xx, 0 4xx, 0 5xx"
            guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("status codes: ") }) else {
                throw PollBenchmark.PollFault.load(text)
            }
            let counts = line.split(separator: " ").compactMap { Double($0) }
            guard counts.count == 4, let requests = counts.dropFirst(status == 304 ? 1 : 0).first, requests > 0,
                counts.reduce(0, +) == requests
            else { throw PollBenchmark.PollFault.load(text) }
            return (requests, Double(seconds))
        }
    }
}

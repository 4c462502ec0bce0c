import Foundation
import HeadroomJSON
import HeadroomProviders

/// `headroom classify`: provider responses, one a line, each answered by what it says.
enum ClassifyCommand {
    static let help = """
        usage: headroom classify [FILE]

        Reads provider responses, one JSON object a line, from FILE or standard input (-, or nothing):
          {"provider":"openai","status":429,"headers":{"retry-after":"6"},"body":"…","received_at":"2026-11-21T10:00:00Z"}
        Only "status" is required; a "body" may be a string or the JSON itself. Writes one line each: its kind (ok, quota,
        overload, ramp, billing, auth, client, server), the reason for it, the resources that a refusal says are used up,
        what it tells of limits on requests, tokens, input tokens and output tokens, and how long to wait; null where it
        does not say. A line that cannot be read gives {"error":"…"}, and the run goes on.
        """

    static func run(_ arguments: [String]) throws -> Int32 {
        let file = try Arguments(arguments, maxPositionals: 1).positionals.first ?? "-"
        let input = try Terminal.open(file)
        var lines = LineBuffer()
        while let chunk = try input.read(upToCount: 65536), !chunk.isEmpty {
            answer(lines.append(chunk))
        }
        answer(lines.finish())
        return 0
    }

    /// One write for the lines of one chunk; each line is answered as soon as it is whole.
    private static func answer(_ lines: [LineBuffer.Line]) {
        var writer = JSONWriter()
        for line in lines {
            do throws(ClassificationLine.Fault) {
                guard !line.isCut else { throw ClassificationLine.Fault("a line must not be longer than 1 MiB") }
                ClassificationLine.write(answerTo: try ClassificationLine.read(line.bytes), to: &writer)
            } catch {
                ClassificationLine.write(error, to: &writer)
            }
        }
        if !writer.bytes.isEmpty { Terminal.print(bytes: writer.bytes) }
    }
}

/// Cuts a stream into lines, none longer than 1 MiB. Empty lines are left out.
private struct LineBuffer {
    struct Line {
        var bytes: [UInt8] = []
        /// The line was longer than this.
        var isCut = false
    }

    static let longestLine = 1 << 20
    private var line = Line()

    mutating func append(_ chunk: Data) -> [Line] {
        var whole: [Line] = []
        var rest = chunk[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            take(rest[..<end])
            whole += finish()
            rest = rest[(end + 1)...]
        }
        take(rest)
        return whole
    }

    /// The line begun, if it has anything.
    mutating func finish() -> [Line] {
        defer { line = Line() }
        let isBlank = line.bytes.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
        return isBlank && !line.isCut ? [] : [line]
    }

    private mutating func take(_ part: Data) {
        let room = LineBuffer.longestLine - line.bytes.count
        if part.count > room { line.isCut = true }
        line.bytes.append(contentsOf: part.prefix(room))
    }
}

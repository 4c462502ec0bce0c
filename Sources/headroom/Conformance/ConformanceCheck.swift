import Foundation
import FoundationNetworking
import HeadroomClient
import HeadroomJSON

/// Plays the stories to a gate behind an address, and compares what it decides with what Headroom's own gate does.
///
/// A story is one POST: its lines without `expect`. The answer has a line for each of them but the first, which names the
/// story: what came of the step, or `null` where nothing is compared.
struct ConformanceCheck {
    /// The longest story is played in a few milliseconds by our own gates; a debugger's pause is no fault.
    private static let timeoutSeconds = 50.0
    private static let maxAnswerBytes = 4 << 20

    let url: URL

    init(_ text: String) throws(UsageError) {
        guard let url = URL(string: text), ["http", "https"].contains(url.scheme), url.host?.isEmpty == false else {
            throw UsageError("\"\(text)\": must be vectors, or the address of a gate as http://127.0.0.1:9000/play")
        }
        self.url = url
    }

    /// Prints a line for each story, and returns how many stories the gate decides otherwise.
    func run() async throws -> Int {
        var failed = 0
        for story in VectorStory.all {
            let steps = try story.played().split(separator: UInt8(ascii: "\n")).map { try Step($0) }
            let answers = try await play(steps)
            let compared = steps.count { $0.expected != nil }
            if let difference = Self.difference(steps, answers) {
                failed += 1
                print("differs  \(story.name): \(difference)")
            } else {
                print("same     \(story.name): \(compared) decisions in \(steps.count - 1) steps")
            }
        }
        return failed
    }

    private func play(_ steps: [Step]) async throws -> [Substring] {
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.setValue("application/x-ndjson", forHTTPHeaderField: "Content-Type")
        request.httpBody = Data(steps.flatMap { $0.line + [UInt8(ascii: "\n")] })
        let answer: (data: Data, response: URLResponse)
        do {
            answer = try await URLSession.shared.data(for: request, withinSeconds: Self.timeoutSeconds)
        } catch {
            throw CommandError("\(url.absoluteString): no answer: \((error as NSError).localizedDescription)")
        }
        let status = (answer.response as? HTTPURLResponse)?.statusCode ?? 0
        guard status == 200 else { throw CommandError("\(url.absoluteString): answers \(status): must be 200") }
        guard answer.data.count <= Self.maxAnswerBytes else {
            throw CommandError(
                "\(url.absoluteString): answers \(answer.data.count) bytes: must be \(Self.maxAnswerBytes) at most")
        }
        return String(decoding: answer.data, as: UTF8.self).split(separator: "\n")
    }

    /// The first step of which something else came, in words; `nil` when there is none.
    private static func difference(_ steps: [Step], _ answers: [Substring]) -> String? {
        guard answers.count == steps.count - 1 else {
            return "\(answers.count) lines for \(steps.count - 1) steps: must be one for each, "
                + "null where nothing comes of it"
        }
        for (index, answer) in answers.enumerated() {
            let step = steps[index + 1]
            guard let expected = step.expected else { continue }
            let found = try? JSONNode.parse(Array(answer.utf8))
            if let found, isSame(step.node["expect"]!, found) { continue }
            let instant = step.node["at"]?.number ?? 0
            return """
                step \(index + 1), \(step.node["do"]?.string ?? "") at \(Int(instant)) ms
                  expected \(String(decoding: expected, as: UTF8.self))
                  found    \(found == nil ? "no JSON: " : "")\(answer.prefix(500))
                """
        }
        return nil
    }

    /// Numbers may differ in their last digits: sums are made in another order. Members may have any order.
    private static func isSame(_ expected: JSONNode, _ found: JSONNode) -> Bool {
        switch (expected.value, found.value) {
        case (.number(let a), .number(let b)): abs(a - b) <= max(1e-6, 1e-9 * max(abs(a), abs(b)))
        case (.array(let a), .array(let b)): a.count == b.count && zip(a, b).allSatisfy { isSame($0, $1) }
        case (.object(let a), .object(let b)):
            a.count == b.count && a.allSatisfy { member in found[member.key].map { isSame(member.value, $0) } ?? false }
        default: expected.value == found.value
        }
    }

    /// One line of a story.
    private struct Step {
        let node: JSONNode
        /// As it is sent: without what is expected.
        let line: [UInt8]
        let expected: ArraySlice<UInt8>?

        init(_ bytes: ArraySlice<UInt8>) throws {
            let bytes = Array(bytes)
            node = try JSONNode.parse(bytes)
            guard case .object(let members) = node.value, let last = members.last, last.key == "expect" else {
                line = bytes
                expected = nil
                return
            }
            // The comma before the key goes too, and the brace behind the value comes back.
            line = bytes[..<(last.keyOffset - 1)] + [UInt8(ascii: "}")]
            expected = bytes[last.value.offset..<(bytes.count - 1)]
        }
    }
}

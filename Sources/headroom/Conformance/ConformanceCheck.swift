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
    let profile: VectorStory.Profile

    init(_ text: String, _ profile: VectorStory.Profile) throws(UsageError) {
        self.profile = profile
        guard let url = URL(string: text), ["http", "https"].contains(url.scheme), url.host?.isEmpty == false else {
            throw UsageError("\"\(text)\": must be vectors, or the address of a gate as http://127.0.0.1:9000/play")
        }
        self.url = url
    }

    /// Prints a line for each story, and returns how many stories the gate decides otherwise.
    func run() async throws -> Int {
        var failed = 0
        for story in VectorStory.stories(of: profile) {
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

    /// The first step of which something else came, and the rule that was broken, in words; `nil` when there is none.
    private static func difference(_ steps: [Step], _ answers: [Substring]) -> String? {
        guard answers.count == steps.count - 1 else {
            return "\(answers.count) lines for \(steps.count - 1) steps: must be one for each, "
                + "null where nothing comes of it"
        }
        var isEnforcing = true
        for (index, answer) in answers.enumerated() {
            let step = steps[index + 1]
            if let pool = step.node["snapshot"]?["pools"]?["pool"] {
                isEnforcing = pool["enforce"]?.value != .bool(false)
            }
            guard let expected = step.expected, let wanted = step.node["expect"] else { continue }
            let found = try? JSONNode.parse(Array(answer.utf8))
            let what = step.node["do"]?.string ?? ""
            let isInOrder = what != "expire" && isEnforcing
            if let found, isSame(wanted, found, isInOrder: isInOrder) { continue }
            let instant = step.node["at"]?.number ?? 0
            return """
                step \(index + 1), \(what) at \(Int(instant)) ms
                  rule     \(rule(of: what, wanted, found))
                  expected \(String(decoding: expected, as: UTF8.self))
                  found    \(found == nil ? "no JSON: " : "")\(answer.prefix(500))
                """
        }
        return nil
    }

    /// The rule of the article GatewayRules that another decision breaks.
    private static func rule(of step: String, _ expected: JSONNode, _ found: JSONNode?) -> String {
        switch step {
        case "dispatch", "answer":
            guard let found else { return "an answer is a line of JSON for each step" }
            let (wanted, went) = (ids(of: expected), ids(of: found))
            let isDraw = step == "answer"
            if !Set(went).subtracting(wanted).isEmpty {
                return isDraw
                    ? "Drawing: only what was granted goes, to the request that is under way, within a second"
                    : "Buckets, admission: a call went that has no right to go now"
            }
            if !Set(wanted).subtracting(went).isEmpty {
                return isDraw
                    ? "Drawing: of each tenant as many calls go as were granted, from the head of its queue"
                    : "Buckets, admission: a call that may go now goes now"
            }
            if wanted != went { return "Order of service: criticality, then the clock, then arrival" }
            return "Order of service: assured work first, then what is lent; each call's right is told"
        case "enqueue": return "Decide: a gateway that is not full takes each call once"
        case "expire": return "Decide: a call whose caller's patience has ended is denied, and no other"
        case "divert": return "Breakers: what the breaker alone keeps back goes to another pool"
        case "refused": return "Retries: when a refused call may go again, and how often"
        case "queues": return "Reports: what waits, and once more with depth 0 what has emptied"
        case "draw": return "Drawing: when a request is due, and what it tells"
        case "kind": return "Kinds of tasks: calls of a kind that is held go at its rate"
        default: return step
        }
    }

    private static func ids(of dispatches: JSONNode) -> [Double] {
        (dispatches.array ?? []).compactMap { $0["id"]?.number }
    }

    /// Numbers may differ in their last digits: sums are made in another order. Members may have any order.
    /// - Parameter isInOrder: Whether the elements of an array have to be in the order that is expected.
    private static func isSame(_ expected: JSONNode, _ found: JSONNode, isInOrder: Bool = true) -> Bool {
        if !isInOrder, let wanted = expected.array, var left = found.array {
            return wanted.count == left.count
                && wanted.allSatisfy { element in
                    guard let place = left.firstIndex(where: { isSame(element, $0) }) else { return false }
                    left.remove(at: place)
                    return true
                }
        }
        return switch (expected.value, found.value) {
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

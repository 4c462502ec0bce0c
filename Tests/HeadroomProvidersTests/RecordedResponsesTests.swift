import Foundation
import HeadroomJSON
import HeadroomModel
import HeadroomProviders
import Testing

/// Responses of real providers with what each should give, from the data set beside the repository. Absent: skipped.
@Suite struct RecordedResponsesTests {
    @Test(.enabled(if: RecordedResponse.all != nil))
    func `every recorded response comes out as its expectation says`() throws {
        let all = try #require(RecordedResponse.all)
        #expect(all.count >= 90)
        for recorded in all {
            let line = try recorded.classified()
            for member in recorded.expectations where !recorded.ambiguous.contains(member.key) {
                if member.key == "kind" {
                    let kind = RecordedResponse.coarse(line["kind"]?.string ?? "")
                    #expect(kind == member.value.string, "\(recorded.id): kind")
                } else {
                    #expect(line[member.key]?.number == member.value.number, "\(recorded.id): \(member.key)")
                }
            }
            for window in recorded.windows {
                #expect(line["window_\(window.key)_s"]?.number == window.value.number, "\(recorded.id): \(window.key)")
            }
        }
    }

    /// On the data set where it is there, and on the answers that these tests hold.
    @Test func `a body that breaks off anywhere is read as far as it goes`() {
        let recorded = (RecordedResponse.all ?? []).map { (name: $0.id, response: $0.response) }
        let answers = AnswerTests.all.map { (name: $0.what, response: $0.response) }
        for (name, response) in recorded + answers where response.status >= 400 {
            let body = Array((response.body ?? "").utf8.prefix(2048))
            for length in stride(from: 0, to: body.count, by: max(1, body.count / 20)) {
                expectSane(response.signal(cutTo: length), "\(name) cut to \(length) bytes")
            }
            // Such a body has lost brackets only.
            guard body.suffix(2) == Array("}}".utf8) else { continue }
            let cut = response.signal(cutTo: body.count - 2).kind
            #expect(cut == response.signal(cutTo: body.count).kind, "\(name)")
        }
    }
}

extension ProviderResponse {
    /// With the body cut to so many bytes.
    fileprivate func signal(cutTo length: Int) -> ProviderSignal {
        var response = self
        response.body = response.body.map { String(decoding: $0.utf8.prefix(length), as: UTF8.self) }
        return ProviderClassifier.classify(response)
    }
}

/// One line of the data set.
struct RecordedResponse {
    let id: String
    let response: ProviderResponse
    let expectations: [JSONMember]
    let windows: [JSONMember]
    let ambiguous: [String]

    static let all: [RecordedResponse]? = {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../shared/data/provider-responses.jsonl")
        guard let data = try? Data(contentsOf: file) else { return nil }
        return data.split(separator: UInt8(ascii: "\n")).compactMap { try? RecordedResponse(line: Array($0)) }
    }()

    init(line: [UInt8]) throws {
        let node = try JSONNode.parse(line)
        response = try ClassificationLine.read(line)
        id = node["id"]?.string ?? ""
        expectations = node["expect"]?.members ?? []
        windows = node["window_s"]?.members ?? []
        ambiguous = node["ambiguous"]?.array?.compactMap(\.string) ?? []
    }

    /// What `headroom classify` prints for it.
    func classified() throws -> JSONNode {
        var writer = JSONWriter()
        ClassificationLine.write(answerTo: response, to: &writer)
        return try JSONNode.parse(writer.bytes)
    }

    /// The data set's kinds, which tell less than ours.
    static func coarse(_ kind: String) -> String {
        switch kind {
        case "ramp", "billing": "quota"
        case "client", "server": "other"
        default: kind
        }
    }
}

/// No number that cannot be: negative, not finite, or beyond all reason.
func expectSane(_ signal: ProviderSignal, _ context: @autoclosure () -> String) {
    var numbers: [(Double?, Double)] = [(signal.retryAfterMilliseconds, 366 * 86_400_000)]
    for window in signal.windows {
        numbers.append((window.limit, 18_446_744_073_709_551_616))
        numbers.append((window.remaining, 18_446_744_073_709_551_616))
        numbers.append((window.resetMilliseconds, 366 * 86_400_000))
        numbers.append((window.windowSeconds, 100_000_000))
    }
    let isSane = numbers.allSatisfy { number, most in
        number.map { $0.isFinite && $0 >= 0 && $0.sign == .plus && $0 <= most } ?? true
    }
    if !isSane { Issue.record("\(signal) from \(context())") }
}

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

    @Test(.enabled(if: RecordedResponse.all != nil))
    func `a body that breaks off anywhere traps nothing, and keeps the kind once its code has passed`() throws {
        for recorded in try #require(RecordedResponse.all) where recorded.response.status >= 400 {
            let body = Array((recorded.response.body ?? "").utf8.prefix(4096))
            var last: ResponseKind?
            for length in stride(from: 0, through: body.count, by: max(1, body.count / 200)) {
                var response = recorded.response
                response.body = String(decoding: body.prefix(length), as: UTF8.self)
                let signal = ProviderClassifier.classify(response)
                expectSane(signal, "\(recorded.id) cut to \(length) bytes")
                last = signal.kind
            }
            var whole = recorded.response
            whole.body = String(decoding: body, as: UTF8.self)
            // Without its last two bytes a body has lost brackets only.
            var cut = whole
            cut.body = String(decoding: body.dropLast(2), as: UTF8.self)
            #expect(ProviderClassifier.classify(cut).kind == ProviderClassifier.classify(whole).kind, "\(recorded.id)")
            _ = last
        }
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
        ClassificationLine.write(ProviderClassifier.classify(response), to: &writer)
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

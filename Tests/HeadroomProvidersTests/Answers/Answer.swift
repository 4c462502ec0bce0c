import HeadroomModel
import HeadroomProviders

/// A provider's answer as it was seen in public (documents, issue threads, other projects' fixtures), shortened, and what
/// it says. The tables are facts about providers; no rule may be written for one row.
struct Answer {
    let what: String
    let response: ProviderResponse
    let kind: ResponseKind
    /// Milliseconds.
    let wait: Double?
    /// As ``notation(of:)`` has them, in the order of the signal's windows.
    let limits: [String]
    /// The resources that a refusal names, by name; `nil` is not insisted on.
    let out: String?

    init(
        _ what: String, _ provider: String?, _ status: Int, _ headers: [String] = [], _ body: String = "",
        _ kind: ResponseKind, wait: Double? = nil, limits: [String] = [], out: String? = nil
    ) {
        self.what = what
        response = ProviderResponse(
            provider: provider, status: status,
            headers: headers.map { line in
                let end = line.dropFirst().firstIndex(of: ":") ?? line.endIndex
                return (name: String(line[..<end]), value: String(line[end...].dropFirst().drop { $0 == " " }))
            }, body: body)
        self.kind = kind
        self.wait = wait
        self.limits = limits
        self.out = out
    }

    /// What the signal says otherwise; empty when all is as told here.
    var faults: [String] {
        let signal = ProviderClassifier.classify(response)
        let limits = signal.windows.map(Answer.notation(of:))
        let out = Resource.allCases.filter { signal.exhausted.contains($0) }.map(\.name).joined(separator: " ")
        var faults: [String] = []
        if signal.kind != kind { faults.append("kind \(signal.kind), not \(kind)") }
        if signal.retryAfterMilliseconds?.rounded() != wait {
            faults.append(
                "wait \(signal.retryAfterMilliseconds?.description ?? "none"), not \(wait?.description ?? "none")")
        }
        if limits != self.limits { faults.append("limits \(limits), not \(self.limits)") }
        if let expected = self.out, out != expected { faults.append("out \"\(out)\", not \"\(expected)\"") }
        return faults
    }

    /// `tokens/60 limit 30000 left 0 reset 6000`: what is not known is left out.
    static func notation(of window: QuotaWindow) -> String {
        func whole(_ number: Double) -> String { String(UInt64(min(number.rounded(), 9.3e18))) }
        var text = window.resource.name + (window.windowSeconds.map { "/" + whole($0) } ?? "")
        if let limit = window.limit { text += " limit " + whole(limit) }
        if let left = window.remaining { text += " left " + whole(left) }
        if let reset = window.resetMilliseconds { text += " reset " + whole(reset) }
        return text
    }
}

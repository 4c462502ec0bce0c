import HeadroomModel

/// The generic rules from a failure to its kind.
///
/// Evidence in order of strength: the provider's own rules; machine fields that name something special (money, growth,
/// overload, identity); the same in prose, under a status that allows it; machine fields that name a rate limit; the
/// status. Prose never makes a kind that the status speaks against: users' text may be echoed in it.
enum FailureRules {
    static func kind(of report: ErrorReport, rules: ProviderRules) -> ResponseKind {
        guard report.isFailure else { return .ok }
        let kind =
            report.codes.lazy.compactMap { rules.codes[$0] }.first ?? rules.kind(report) ?? special(report)
            ?? inProse(report) ?? rateLimit(report) ?? byStatus(report)
        // A stream may end on a fault of the request (its own output limit, say): the provider has served it.
        return report.isSuccess && kind == .client ? .ok : kind
    }

    /// Parts of machine fields, squeezed, with the statuses under which they count.
    private static func special(_ report: ErrorReport) -> ResponseKind? {
        let status = report.status ?? 0
        if report.names(anyOf: billing) { return .billing }
        if report.names(anyOf: ramp) { return .ramp }
        if [0, 400, 401, 403, 407].contains(status), report.names(anyOf: auth) { return .auth }
        if mayBeOverload(status), report.names(anyOf: overload) { return .overload }
        return nil
    }

    private static let billing: [StaticString] = [
        "billing", "insufficientquota", "insufficientbalance", "insufficientcredit", "insufficientfund",
        "creditbalance", "creditsexhausted", "outofcredits", "spendlimit", "spendinglimit", "paymentrequired",
        "organizationusagelimit", "exceededcurrentquota", "arrearage",
    ]
    private static let ramp: [StaticString] = ["slowdown", "acceleration", "burstrate", "rampup"]
    private static let auth: [StaticString] = [
        "apikey", "authentication", "unauthenticated", "unauthorized", "permissiondenied", "permissionerror",
        "accessdenied", "unrecognizedclient", "signature", "expiredtoken", "tokenexpired", "credentialsmissing",
        "invalidtoken", "securitytoken",
    ]
    private static let overload: [StaticString] = [
        "overload", "unavailable", "capacity", "serverbusy", "systembusy", "toobusy",
    ]

    private static func inProse(_ report: ErrorReport) -> ResponseKind? {
        let prose = report.prose
        let status = report.status ?? 0
        if prose.isEmpty { return nil }
        if status == 0 || (400..<500).contains(status), prose.mentions(anyOf: billingPhrases) { return .billing }
        if [0, 429, 503, 529].contains(status), prose.mentions(anyOf: rampPhrases) { return .ramp }
        if mayBeOverload(status), prose.mentions(anyOf: overloadPhrases) { return .overload }
        if status == 400, prose.mentions(anyOf: keyPhrases) { return .auth }
        if status == 403 {
            if prose.mentions(anyOf: ["moderation", "flagged", "content policy"]) { return .client }
            if prose.mentions(anyOf: ["quota", "rate limit"]) { return .quota }
        }
        return nil
    }

    private static let billingPhrases: [StaticString] = [
        "credit balance", "insufficient balance", "insufficient funds", "insufficient credit", "not enough credit",
        "out of credits", "any credits", "available credits", "included credits", "monthly credits", "spending limit",
        "spend limit", "payment required", "billing hard limit", "prepaid", "overdue", "past invoices",
        "account is not active",
    ]
    private static let rampPhrases: [StaticString] = [
        "acceleration limit", "usage increase rate", "increased too quickly", "increasing too quickly", "too quickly",
        "gradual", "ramp up",
    ]
    private static let overloadPhrases: [StaticString] = [
        "overloaded", "over capacity", "at capacity", "maximum capacity", "capacity exceeded",
        "capacity temporarily exceeded", "exceeded capacity", "out of capacity", "no capacity", "insufficient capacity",
        "not enough capacity", "capacity constraints", "limited capacity", "high demand", "peak load", "heavy load",
        "high load", "heavy traffic", "high traffic", "too busy", "server is busy", "system is busy", "service is busy",
        "rate-limited upstream", "rate limited upstream", "currently processing too many requests",
    ]
    private static let keyPhrases: [StaticString] = [
        "api key not valid", "invalid api key", "incorrect api key", "api key expired", "api key not found",
        "missing api key", "authentication",
    ]

    /// A refusal under 429 (498 is Groq's), a fault of the server, or an error inside a success.
    private static func mayBeOverload(_ status: Int) -> Bool { [0, 429, 498].contains(status) || status >= 500 }

    private static func rateLimit(_ report: ErrorReport) -> ResponseKind? {
        let parts: [StaticString] = [
            "ratelimit", "toomanyrequests", "throttl", "quotaexceeded", "quotaexhausted", "resourceexhausted",
            "abnormalusage",
        ]
        guard ![401, 402, 404, 407].contains(report.status), report.names(anyOf: parts) else { return nil }
        return .quota
    }

    private static func byStatus(_ report: ErrorReport) -> ResponseKind {
        guard let status = report.status else {
            let isOurs = report.names(anyOf: [
                "invalid", "validation", "notfound", "badrequest", "contentfilter", "contextlength", "unprocessable",
            ])
            return isOurs ? .client : .server
        }
        switch status {
        case 401, 403, 407: return .auth
        case 402: return .billing
        case 429: return .quota
        case 503, 529: return .overload
        // A redirection is no answer: we asked in the wrong place.
        case 300..<500: return .client
        default: return .server
        }
    }
}

import HeadroomModel

/// The generic rules from a failure to its kind.
///
/// Evidence in order of strength: the provider's own codes; money, since no retry may follow; the provider's own rule;
/// machine fields that name something special (growth, identity, overload); the same in prose, under a status that allows
/// it; machine fields that name a rate limit; the status. Prose never makes a kind that the status speaks against: users'
/// text may be echoed in it.
enum FailureRules {
    /// A kind, and the evidence for it in words.
    struct ReasonedKind {
        let kind: ResponseKind
        let reason: String
    }

    static func kind(of report: ErrorReport, rules: ProviderRules) -> ReasonedKind {
        guard report.isFailure else { return ReasonedKind(kind: .ok, reason: "a success without an error inside") }
        if let code = report.codes.first(where: { rules.codes[$0] != nil }), let kind = rules.codes[code] {
            return ReasonedKind(kind: kind, reason: "the provider's code \(code)")
        }
        if let found = moneyKind(of: report) ?? tooLong.inProse(of: report) { return found }
        let found =
            rules.kind(report).map { ReasonedKind(kind: $0, reason: "a rule of the provider's own") }
            ?? table.lazy.compactMap { $0.inCodes(of: report) }.first
            ?? table.lazy.compactMap { $0.inProse(of: report) }.first ?? plainLimit.inCodes(of: report)
            ?? byStatus(report)
        // A stream may end on a fault of the request (its own output limit, say): the provider has served it.
        return report.isSuccess && found.kind == .client
            ? ReasonedKind(kind: .ok, reason: "served; " + found.reason) : found
    }

    private static func moneyKind(of report: ErrorReport) -> ReasonedKind? {
        // If the message states a rate, the rate was exceeded, whatever the type: free accounts have a `credit_limit`.
        let statesRate = report.status == 429 && ProseLimit(report.prose)?.windowSeconds != nil
        if !statesRate, let found = money.inCodes(of: report) { return found }
        if let found = money.inProse(of: report) { return found }
        guard money.phrasesCount(report.status ?? 0), !statesRate, SpentMoney.isTold(in: report.prose) else {
            return nil
        }
        return ReasonedKind(kind: .billing, reason: "words for money that is gone")
    }

    private static func byStatus(_ report: ErrorReport) -> ReasonedKind {
        guard let status = report.status else {
            return ours.inCodes(of: report) ?? ReasonedKind(kind: .server, reason: "an error inside a success")
        }
        let kind: ResponseKind =
            switch status {
            case 401, 403, 407: .auth
            case 402: .billing
            case 429: .quota
            case 503, 529: .overload
            // Failed Dependency: what stands behind the server, not we.
            case 424: .server
            // A redirection is no answer: we asked in the wrong place.
            case 300..<500: .client
            default: .server
            }
        return ReasonedKind(kind: kind, reason: "status \(status)")
    }
}

/// The signs of one kind: parts of machine-readable fields, squeezed as in ``ErrorReport/codes``, and phrases in lower case,
/// each with the statuses (0 for an error inside a success) under which they count.
private struct Signs: Sendable {
    let kind: ResponseKind
    var codes: [StaticString] = []
    var codesCount: @Sendable (Int) -> Bool = { _ in true }
    var phrases: [StaticString] = []
    var phrasesCount: @Sendable (Int) -> Bool = { _ in true }

    func inCodes(of report: ErrorReport) -> FailureRules.ReasonedKind? {
        guard codesCount(report.status ?? 0), let code = report.code(holdingOneOf: codes) else { return nil }
        return FailureRules.ReasonedKind(kind: kind, reason: "the code \(code)")
    }

    func inProse(of report: ErrorReport) -> FailureRules.ReasonedKind? {
        guard phrasesCount(report.status ?? 0), let phrase = report.prose.first(of: phrases) else { return nil }
        return FailureRules.ReasonedKind(kind: kind, reason: "the words \"\(phrase)\"")
    }
}

extension FailureRules {
    /// A refusal under 429 (498 is Groq's), a fault of the server, or an error inside a success.
    private static let mayBeOverload: @Sendable (Int) -> Bool = { [0, 429, 498].contains($0) || $0 >= 500 }

    /// Phrases are chosen against the advice that refusals of quota give as well: "add a payment method", "check your plan
    /// and billing details", "add 10 credits to unlock …" are no sign of money that is gone.
    private static let money = Signs(
        kind: .billing,
        codes: [
            "billing", "insufficientquota", "insufficientuserquota", "insufficientbalance", "insufficientcredit",
            "insufficientfund", "creditbalance", "creditlimit", "creditsexhausted", "outofcredits", "spendlimit",
            "spendinglimit", "paymentrequired", "organizationusagelimit", "exceededcurrentquota", "arrearage",
            "overdue", "budgetexceeded", "exceededbudget", "budgetlimit", "freetieronly", "verificationrequired",
            "notenoughbalance", "creditserror", "resourcepack", "notpurchased",
        ],
        phrases: [
            "credit balance", "insufficient balance", "insufficient funds", "insufficient credit",
            "insufficient account balance", "balance is insufficient", "not enough balance", "not enough credit",
            "out of credits", "no credits remaining", "credits are depleted", "credits expired", "credits have expired",
            "any credits", "available credits", "included credits", "monthly credits", "prepaid credit",
            "spending limit", "spend limit", "spending cap", "spend cap", "no payment method",
            "specified api usage limits", "budget has been exceeded", "over budget",
            "payment required", "payment instrument", "valid credit card", "quota is not enough", "overdue balance",
            "overdue payment",
            "overdue-payment", "is overdue", "past invoices", "account is not active", "out of funds", "top up your",
            "recharge your", "billing hard limit", "enable billing", "billing to be enabled", "billing is not enabled",
            "billing has not been enabled", "subscription has expired", "inactive subscription", "free trial quota",
            "free tier of the model has been exhausted",
            // Balance not sufficient; arrears; allowance not sufficient, used up; what is left is used up.
            "\u{4F59}\u{989D}\u{4E0D}\u{8DB3}", "\u{6B20}\u{8D39}", "\u{989D}\u{5EA6}\u{4E0D}\u{8DB3}",
            "\u{989D}\u{5EA6}\u{5DF2}\u{7528}\u{5C3D}", "\u{4F59}\u{91CF}\u{5DF2}\u{7528}\u{5C3D}",
        ],
        phrasesCount: { $0 == 0 || (400..<500).contains($0) })

    /// A request that no wait makes shorter, which servers of models and proxies call a fault of the server.
    private static let tooLong = Signs(
        kind: .client,
        phrases: ["maximum context length", "context length exceeded", "available context size", "prompt is too long"],
        phrasesCount: { $0 >= 500 })

    /// In order: the first whose codes fit, else the first whose phrases do.
    private static let table: [Signs] = [
        Signs(
            kind: .ramp,
            codes: ["slowdown", "acceleration", "burstrate", "bursttoofast", "rampup"],
            phrases: [
                "acceleration limit", "usage increase rate", "increased too quickly", "increasing too quickly",
                "increased too fast", "risen too fast", "grown too quickly", "gradual", "ramp up",
            ],
            phrasesCount: { [0, 429, 503, 529].contains($0) }),
        Signs(
            kind: .auth,
            codes: [
                "apikey", "authentication", "unauthenticated", "unauthorized", "permissiondenied", "permissionerror",
                "accessdenied", "unrecognizedclient", "signature", "expiredtoken", "tokenexpired", "credentialsmissing",
                "invalidtoken", "securitytoken",
            ],
            codesCount: { [0, 400, 401, 403, 407].contains($0) },
            phrases: [
                "api key not valid", "invalid api key", "incorrect api key", "api key expired", "api key not found",
                "missing api key", "authentication",
            ],
            phrasesCount: { $0 == 400 }),
        Signs(
            kind: .overload,
            codes: ["overload", "unavailable", "capacity", "busy", "queueexceeded"],
            codesCount: mayBeOverload,
            phrases: [
                "overloaded", "over capacity", "at capacity", "maximum capacity", "capacity exceeded",
                "capacity temporarily exceeded", "exceeded capacity", "out of capacity", "no capacity",
                "insufficient capacity", "not enough capacity", "capacity constraints", "capacity limits",
                "limited capacity", "high demand", "peak load", "heavy load", "high load", "heavy traffic",
                "high traffic", "busy", "queue is full", "maximum queue size", "nowhere available",
                "rate-limited upstream", "rate limited upstream",
                // Overloaded, load saturated, load too high, busy, too many visits.
                "\u{8FC7}\u{8F7D}", "\u{8D1F}\u{8F7D}\u{5DF2}\u{9971}\u{548C}", "\u{8D1F}\u{8F7D}\u{8FC7}\u{9AD8}",
                "\u{7E41}\u{5FD9}", "\u{8BBF}\u{95EE}\u{91CF}\u{8FC7}\u{5927}",
                "currently processing too many requests", "resource exhausted. please try again",
                "resource exhausted, please try again", "first token before the given deadline",
            ],
            phrasesCount: mayBeOverload),
        // A 403 that is not about who asks.
        Signs(
            kind: .client, phrases: ["moderation", "flagged", "content policy", "validation error"],
            phrasesCount: { $0 == 403 }),
        Signs(
            kind: .quota, phrases: ["quota", "rate limit", "usage limit", "limit reached", "limit exceeded"],
            phrasesCount: { [0, 403].contains($0) }),
        Signs(
            kind: .quota,
            phrases: ["exceeded your hourly", "exceeded your daily", "exceeded your weekly", "exceeded your monthly"],
            phrasesCount: { $0 == 400 }),
        // A proxy's words for what its upstream refused; a plain "rate limit" may be its own machinery that failed.
        Signs(
            kind: .quota,
            phrases: ["rate limit exceeded", "rate limit reached", "quota exceeded", "too many requests"],
            phrasesCount: { [500, 502].contains($0) }),
    ]

    /// Names of a rate limit that say nothing special. Under the other statuses they are about something else.
    private static let plainLimit = Signs(
        kind: .quota,
        codes: [
            "ratelimit", "requestlimitexceeded", "toomanyrequests", "throttl", "quotaexceeded", "quotaexhausted",
            "quotareached", "usagelimit", "resourceexhausted", "abnormalusage",
        ],
        codesCount: { ![401, 402, 404, 407].contains($0) })

    /// Faults of the request, for an error inside a success that names no status.
    private static let ours = Signs(
        kind: .client,
        codes: ["invalid", "validation", "notfound", "badrequest", "contentfilter", "contextlength", "unprocessable"])
}

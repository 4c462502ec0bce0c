import HeadroomModel

/// Failed responses whose calls are not reported yet, by request.
///
/// A gateway's own `outcome` counts unless a `response` line of the same request says otherwise (Model §3.1). The line
/// may come before the call's or after it. What came before waits here for a few seconds; it is not in the checkpoint.
struct EarlyAnswers: Sendable {
    struct Answer: Sendable {
        var kind: ResponseKind
        var status: Int
        /// For want of what, where it says.
        var exhausted: ResourceSet
        var readAt: Timestamp
    }

    private static let keepSeconds = 5.0
    /// A gateway that sends responses without calls must not take more.
    private static let maxAnswers = 4096

    private var answers: [UInt64: Answer] = [:]

    /// The newest answer for a request goes before an older one; with too many, those that come are not kept.
    mutating func keep(_ answer: Answer, for request: UInt64) {
        if answers.count >= Self.maxAnswers {
            answers = answers.filter { answer.readAt.seconds(since: $0.value.readAt) <= Self.keepSeconds }
            guard answers.count < Self.maxAnswers else { return }
        }
        answers[request] = answer
    }

    /// The answer to a failed call that is read at `now`, once. Another attempt at the same request has another status.
    mutating func take(for call: CallRecord, at now: Timestamp) -> Answer? {
        guard !answers.isEmpty, let request = call.request?.fingerprint, let answer = answers[request],
            call.status == nil || call.status == answer.status,
            now.seconds(since: answer.readAt) <= Self.keepSeconds
        else { return nil }
        answers[request] = nil
        return answer
    }
}

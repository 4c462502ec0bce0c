import HeadroomModel

/// The bounds of what callers say of their calls, in whatever way they say it.
///
/// The gate's readers refuse what is outside, with a sentence; ``Call`` and ``CallEnd`` are cut to them before anything is
/// reckoned with their numbers, so that no number from outside can end the process.
package enum CallBounds {
    /// Of a prompt, and of an answer: some ten times the largest context of a model. Two of them are less than a draw and a
    /// line of telemetry may name, and the sum over all calls that a gate holds is exact.
    package static let tokens = 0...100_000_000
    /// Of the body of a request, at four bytes a token.
    package static let bytes = 0...400_000_000
    /// What Headroom takes for a time in telemetry.
    static let longest = Duration.seconds(86_400)
    /// What Headroom takes for a text in telemetry, in bytes.
    package static let textBytes = 256

    static func tokens(_ count: Int) -> Int { min(max(tokens.lowerBound, count), tokens.upperBound) }
    static func time(_ time: Duration) -> Duration { min(max(.zero, time), longest) }
    /// A longer text says nothing to Headroom, which would refuse the whole line.
    static func text(_ text: String?) -> String? { text.flatMap { $0.utf8.count <= textBytes ? $0 : nil } }
}

extension Call {
    /// Inside ``CallBounds``. A bound on the answer that is no number of tokens counts as none: the provider refuses it.
    var bounded: Call {
        var call = self
        call.inputTokens = CallBounds.tokens(inputTokens)
        call.maxOutputTokens = maxOutputTokens.flatMap { $0 < 0 ? nil : CallBounds.tokens($0) }
        call.maxWait = CallBounds.time(maxWait)
        call.age = CallBounds.time(age)
        call.request = CallBounds.text(request)
        call.task = CallBounds.text(task)
        call.parent = CallBounds.text(parent)
        call.taskKind = CallBounds.text(taskKind)
        call.model = CallBounds.text(model)
        call.endpoint = CallBounds.text(endpoint)
        call.provider = CallBounds.text(provider)
        return call
    }
}

extension CallEnd {
    /// Inside ``CallBounds``. A negative count is none.
    var bounded: CallEnd {
        func count(_ count: Int?) -> Int? { count.flatMap { $0 < 0 ? nil : CallBounds.tokens($0) } }
        var end = self
        end.inputTokens = count(inputTokens)
        end.outputTokens = count(outputTokens)
        end.cachedInputTokens = count(cachedInputTokens)
        end.cacheCreationInputTokens = count(cacheCreationInputTokens)
        end.latency = latency.map { CallBounds.time($0) }
        return end
    }
}

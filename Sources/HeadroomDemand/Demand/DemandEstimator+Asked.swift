import HeadroomModel

/// What was asked for: see ``AskedWork``. Late lines count too, in the minute where they belong.
extension DemandEstimator {
    mutating func ask(
        _ call: CallRecord, worth: AskedWork, isResent: Bool, of place: Int32, at instant: Timestamp,
        readAt now: Timestamp
    ) {
        let piece = call.request.map {
            RecentRequests.fingerprint(of: profiles[Int(place)].fingerprint, $0.fingerprint)
        }
        let asked = pieces.note(call, piece: piece, worth: worth, isResent: isResent, at: instant)
        // When it began it left its queue, if it was in one.
        let began = min(call.startedAt, instant)
        add(asked, began, of: place, call.criticality, over: instant.second...instant.second, readAt: now)
        uses.ask(asked, call, tenant: place, at: began)
    }

    mutating func ask(_ window: WindowRecord, of place: Int32, at instant: Timestamp, readAt now: Timestamp) {
        let profile = profiles[Int(place)]
        let mean = profile.shape.mean
        let served = window.served
        let perRequest = mean[.tokens] > 0 ? mean[.tokens] : window.ok > 0 ? served[.tokens] / Double(window.ok) : 0
        let denied = profile.split(
            tokens: Double(window.deniedTokens) * Double(profile.correction.factor(served: Float(mean[.tokens]))))
        let first = Double(window.requests) - Double(window.retries)
        // Refused for good, as it seems; below 0 where what an earlier window counted so was served after all.
        var work = served + denied + profile.split(tokens: (first - Double(window.ok)) * perRequest)
        work[.requests] = first + Double(window.denied)
        let end = instant.adding(seconds: -0.001)
        let deniedTokens = Int64(saturating: denied[.tokens])
        rollups.add(to: end.minute, tenant: place, window.criticality) { $0.count(window, deniedTokens: deniedTokens) }
        var window = window
        window.start = instant.adding(seconds: -window.seconds)
        add(AskedWork(work), end, of: place, window.criticality, over: window.spannedSeconds, readAt: now)
    }

    mutating func ask(_ queue: QueueRecord, of place: Int32, at instant: Timestamp, readAt now: Timestamp) {
        let asked = profiles[Int(place)].ask(queue, at: instant)
        add(asked, instant, of: place, queue.criticality, over: instant.second...instant.second, readAt: now)
    }

    /// - Parameters:
    ///   - began: the minute that it counts in.
    ///   - seconds: in which the gateway came to know of it.
    private mutating func add(
        _ asked: AskedWork, _ began: Timestamp, of place: Int32, _ criticality: Criticality,
        over seconds: ClosedRange<Int64>, readAt now: Timestamp
    ) {
        guard !asked.isNothing else { return }
        rollups.add(to: began.minute, tenant: place, criticality) { $0.asked.add(asked) }
        // A clock that is ahead of this one would empty the window.
        if seconds.upperBound <= now.second {
            profiles[Int(place)].lately.ask(asked, over: seconds, windowSeconds: settings.askedSeconds)
        }
    }
}

extension TenantProfile {
    fileprivate mutating func ask(_ queue: QueueRecord, at instant: Timestamp) -> AskedWork {
        var worth = AskedWork()
        if queue.depth > 0 {
            let mean = shape.mean[.tokens]
            let claimed = Double(queue.tokens) * Double(correction.factor(served: Float(mean)))
            worth = AskedWork(split(tokens: queue.tokens > 0 ? claimed : Double(queue.depth) * mean))
            worth.requests = queue.depth
        }
        return waiting.note(queue, worth: worth, at: instant)
    }
}

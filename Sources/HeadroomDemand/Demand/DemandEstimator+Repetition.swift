import HeadroomModel

/// Work that comes again under another name.
extension DemandEstimator {
    /// True when new work is a denied call in new clothes: the same content was denied just before it came, and that
    /// happens to this tenant far more often than with what was served.
    mutating func isAgain(_ call: CallRecord, _ index: Int, at arrival: Timestamp) -> Bool {
        let time = hasOwnRhythm(call.gateway, index, at: arrival) ? nil : arrival
        guard profiles[index].watch.looksForResends, let content = content(of: call, index) else {
            profiles[index].watch.noteArrival(wasDenied: false, wasServed: false, at: time, gaming)
            return false
        }
        let wasDenied = denials.take(content, before: arrival)
        let wasServed = controls.take(content, before: arrival)
        profiles[index].watch.noteArrival(wasDenied: wasDenied, wasServed: wasServed, at: time, gaming)
        guard wasDenied, profiles[index].watch.resendsDenied else { return false }
        profiles[index].retried.add(1, at: call.at, halfLife: Self.retryHalfLife)
        return true
    }

    /// Whether the moments at which work arrives from the gateway are those of its reports.
    private mutating func hasOwnRhythm(_ gateway: GatewayID, _ index: Int, at arrival: Timestamp) -> Bool {
        guard let number = gatewayNumbers[gateway], let phase = profiles[index].watch.phase(of: arrival, gaming) else {
            return false
        }
        return !gatewayArrivals[Int(number)].notePhase(phase, of: index)
    }

    mutating func remember(denied call: CallRecord, _ index: Int, arrivedAt arrival: Timestamp, at instant: Timestamp) {
        guard let content = content(of: call, index) else { return }
        denials.insert(content, endingAt: instant, at: instant)
        profiles[index].watch.noteDenied(afterSeconds: instant.seconds(since: arrival))
    }

    /// A served call is held to have ended when it would have been denied: work that comes in bursts, or by a timer,
    /// then comes again behind either as often.
    mutating func remember(served call: CallRecord, _ index: Int, arrivedAt arrival: Timestamp, at instant: Timestamp) {
        guard let wait = profiles[index].watch.takeControl(), let content = content(of: call, index) else { return }
        controls.insert(content, endingAt: arrival.adding(seconds: wait), at: instant)
    }

    /// By its size: prompts are not telemetry.
    private func content(of call: CallRecord, _ index: Int) -> UInt64? {
        guard let input = call.inputTokens, input > 0 else { return nil }
        return RecentRequests.fingerprint(
            of: profiles[index].fingerprint, UInt64(call.criticality.rawValue), UInt64(bitPattern: input),
            UInt64(bitPattern: call.maxTokens ?? 0))
    }
}

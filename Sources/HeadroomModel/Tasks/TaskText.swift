/// How long agent tasks took, in sentences.
package enum TaskText {
    /// `14 tasks of kind review took 8 min in the median and 12 min at the 95th percentile, 93 % of it waiting for quota; 41 s is
    /// usual`. Without an end, and with nothing where none ended.
    /// - Parameters:
    ///   - usual: the median before.
    ///   - scarce: what they wait for, in the reader's words.
    package static func took(
        _ times: TaskTimes, kind: String?, usual: Double?, scarce: String = "quota"
    ) -> String? {
        let sums = times.sums
        guard sums.tasks > 0, let median = times.seconds(atMost: 0.5), let worst = times.seconds(atMost: 0.95) else {
            return nil
        }
        var text = "\(GroupedNumber.whole(Double(sums.tasks))) \(sums.tasks == 1 ? "task" : "tasks")"
        if let kind { text += " of kind \(kind)" }
        text += " took \(seconds(median))"
        if sums.tasks > 1 { text += " in the median and \(seconds(worst)) at the 95th percentile" }
        if let share = waitedShare(sums), share >= 0.005 {
            text += ", \(GroupedNumber.percent(share)) of it waiting for \(scarce)"
        }
        if let usual { text += "; \(seconds(usual)) is usual" }
        return text
    }

    /// The part of their time which tasks waited.
    package static func waitedShare(_ sums: TaskTimes.Sums) -> Double? {
        sums.seconds > 0 ? min(1, sums.waitedSeconds / sums.seconds) : nil
    }

    /// With a digit behind the point where it is short.
    package static func seconds(_ seconds: Double) -> String {
        seconds < 9.95
            ? "\(GroupedNumber.plain((seconds * 10).rounded() / 10)) s" : GroupedNumber.duration(seconds: seconds)
    }
}

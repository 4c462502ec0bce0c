import HeadroomModel

/// The times and shares by which gates and the float deal with each other.
extension DrawRequest {
    /// An answer that takes longer grants nothing: its request was lost, as far as the gateway is concerned.
    public static let patienceSeconds = 1.0
    /// A request that was not answered is sent again after so long, as it was.
    public static let resendSeconds = 0.3
    /// A gate that draws keeps this share of its part while the float answers; it returns the rest to the float at once.
    public static let keptShare = 0.1
    /// Without work that waits, totals are reported this often.
    public static let reportSeconds = 1.0
    /// Seconds of its budget that a gateway which draws may hold locally: a tenth of the pool's burst. What is held is
    /// lost to everyone else while nobody with a right of its own waits there: of a burst of five seconds, 1 s cost .011
    /// of shortfall against half a second.
    public static func localBurstSeconds(of burstSeconds: Double) -> Double { min(0.5, burstSeconds / 10) }
    /// In an ample pool it holds half of the burst: what comes goes at once. The other half is there for gateways whose work
    /// moves faster than budgets do.
    public static func heldSeconds(of burstSeconds: Double) -> Double { burstSeconds / 2 }
    /// So long after its last answer a gate takes the float to be there: it tells of itself each second.
    public static let answeringSeconds = 2.0
    /// A request that has not been answered for so long, though it was sent twice, tells that the float is gone.
    public static let silenceSeconds = 0.5
    /// A tenant whose bucket of assured work holds at least this share has used less than its assured rate.
    public static let quietShare = 0.5
}

extension DrawRequest {
    /// A statement that no gateway can make; `nil` when all is well.
    var fault: String? {
        func isBad(_ work: Work, least: Double) -> Bool {
            !all((work.amounts .>= least) .& (work.amounts .< .infinity) .& (work.amounts .> -.infinity))
        }
        if isBad(totals.returned, least: 0) { return "totals.returned: must be numbers of at least 0" }
        if isBad(totals.grantedUsed, least: -.infinity) { return "totals.granted_used: must be numbers" }
        for entry in totals.spent where isBad(entry.work, least: -.infinity) {
            return "totals.spent of \(entry.tenant): must be numbers"
        }
        for queue in waiting {
            // Judged together: heads are most of what is in a request.
            var areRight = SIMDMask<SIMD4<Int64>>(repeating: true)
            var areFinite = true
            for head in queue.heads {
                areRight .&= (head.estimate.amounts .>= 0) .& (head.estimate.amounts .< .infinity)
                areFinite = areFinite && (head.waitedSeconds ?? 0).isFinite && head.patienceSeconds >= 0
            }
            if !areFinite || !all(areRight) { return "waiting of \(queue.tenant): must be numbers of at least 0" }
        }
        return nil
    }
}

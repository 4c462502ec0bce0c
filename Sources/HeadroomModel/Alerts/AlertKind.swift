/// What can go wrong so that a person should look. The raw values are the words of the API, the metrics and the policy.
public enum AlertKind: String, CaseIterable, Sendable, Hashable {
    /// Tenants get clearly less than they are due (Model §2).
    case starvation
    /// The pool grants clearly less than its contract.
    case capacityLost = "capacity_lost"
    case breakerOpen = "breaker_open"
    /// The provider refuses the account for want of money.
    case providerBilling = "provider_billing"
    /// The provider refuses the key.
    case providerKey = "provider_key"
    case costNear = "cost_near"
    case costReached = "cost_reached"
    /// The cost breaker will hold spending back, or does.
    case costSlowing = "cost_slowing"
    case costPausing = "cost_pausing"
    /// An agent task has used up its budget, or may only finish; or a person has stopped it.
    case taskStopped = "task_stopped"
    /// Agent tasks of a kind take three times their usual time, since they wait for quota.
    case taskSlow = "task_slow"
    /// A gateway enforces an old generation.
    case drift
    case gatewayLost = "gateway_lost"
    case approvalWaiting = "approval_waiting"
    /// A question, or a decision that is in force, ends soon.
    case approvalEnding = "approval_ending"
    case gaming
    case retryStorm = "retry_storm"
    /// Assured rates turn back and forth.
    case limitsReversing = "limits_reversing"
    /// A top tenant's work waits for longer than its tier should.
    case queueWait = "queue_wait"
    /// The upstream is far slower than it was, and refuses nothing yet.
    case latency
    /// A service level is missed so fast that the month's allowance will not last.
    case sloBurn = "slo_burn"
    case loopLate = "loop_late"
    case loopFailing = "loop_failing"
    /// Gateways poll, and nothing is reported of a pool that had traffic.
    case telemetrySilent = "telemetry_silent"
    /// A name that no pool and no contract knows.
    case unknownName = "unknown_name"
    case diskFull = "disk_full"
    case policyRejected = "policy_rejected"
    case certificateEnding = "certificate_ending"
    /// The service itself: its database files, its audit log, its clock.
    case service
    /// A webhook does not take what it is sent.
    case sinkFailing = "sink_failing"

    /// What several of them are or do, behind their number: `12 tenants are starved`.
    package var plural: String {
        switch self {
        case .starvation: "tenants are starved"
        case .capacityLost: "pools have lost capacity"
        case .breakerOpen: "breakers are open"
        case .providerBilling: "accounts are refused for want of money"
        case .providerKey: "provider keys are refused"
        case .costNear: "tenants are near their cost ceilings"
        case .costReached: "tenants have reached their cost ceilings"
        case .costSlowing: "tenants or kinds of tasks are slowed by the cost breaker"
        case .costPausing: "tenants or kinds of tasks are paused by the cost breaker"
        case .taskStopped: "agent tasks are stopped"
        case .taskSlow: "kinds of agent tasks take three times their usual time"
        case .drift: "gateways enforce an old generation"
        case .gatewayLost: "gateways are lost"
        case .approvalWaiting: "approvals wait for a person"
        case .approvalEnding: "approvals are about to end"
        case .gaming: "tenants are flagged"
        case .retryStorm: "tenants take part in a retry storm"
        case .limitsReversing: "pools turn their limits back and forth"
        case .queueWait: "top tenants wait for longer than their tiers should"
        case .latency: "upstreams have become slow"
        case .sloBurn: "service levels are burning"
        case .loopLate: "signs that the control loop is late"
        case .loopFailing: "stages of the control loop fail"
        case .telemetrySilent: "pools are silent"
        case .unknownName: "names are unknown"
        case .diskFull: "disks are nearly full"
        case .policyRejected: "policies were refused"
        case .certificateEnding: "certificates are about to end"
        case .service: "conditions of the service need a person"
        case .sinkFailing: "webhooks fail"
        }
    }
}

/// How soon a person should look.
public enum AlertSeverity: Int, CaseIterable, Comparable, Sendable, Hashable {
    /// In working hours.
    case info
    /// Today.
    case warning
    /// Now.
    case critical

    public var name: String {
        switch self {
        case .info: "info"
        case .warning: "warning"
        case .critical: "critical"
        }
    }

    public static func < (left: AlertSeverity, right: AlertSeverity) -> Bool { left.rawValue < right.rawValue }
}

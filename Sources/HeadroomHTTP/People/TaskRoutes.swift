import HeadroomModel
import HeadroomWire

/// `/v1/tasks`: agent tasks over all gateways, and people's word on them; and `/v1/task-times`, how long they take.
struct TaskRoutes: Sendable {
    let records: any RecordReading
    let steering: any SteeringDesk
    let rules: any RuleSource
    let board: SnapshotBoard

    private static let path = "/v1/tasks"

    /// A task's name may hold any character, so that it stands in the body and not in the path.
    var all: [Route] {
        [
            .person(.get, Self.path, AccessRule.viewers, .scope) { call in try await list(call) },
            .person(.get, "/v1/task-times", AccessRule.viewers, .scope) { call in try await times(call) },
            .person(
                .post, Self.path + "/stop", AccessRule.overriders, .scope, bodyLimit: Route.personBodyBytes
            ) { call in try await rule(call, .stop) },
            .person(
                .post, Self.path + "/lift", AccessRule.overriders, .scope, bodyLimit: Route.personBodyBytes
            ) { call in try await rule(call, .lift) },
        ]
    }

    private func list(_ call: PeopleCall) async throws(HTTPError) -> HTTPResponse {
        try call.check(query: ["tenant"])
        let tenant: TenantID? = try call.query("tenant")
        let policy = try await rules.rules().policy.taskBudgets
        let reports = board.newestReport?.tasks ?? TaskReports()
        let seen = visible(reports.tasks, call).filter { (tenant ?? $0.name.tenant) == $0.name.tenant }
        // How many others there are is not everybody's business.
        let leftOut = call.grant.scope.isWhole ? reports.leftOut : 0
        return .json(PeopleAnswer.tasks(seen, leftOut: leftOut, policy))
    }

    private func times(_ call: PeopleCall) async throws(HTTPError) -> HTTPResponse {
        try call.check(query: ["from", "to", "tenant"])
        let tenant: TenantID? = try call.query("tenant")
        let to = try call.instant("to") ?? board.time.now()
        let from = try call.instant("from") ?? to.adding(seconds: -3600)
        guard from < to else { throw HTTPError(.badRequest, "from must lie before to") }
        let scope = call.grant.scope
        if let tenant {
            try call.requireScope(scope.holds(tenant, in: nil), "the tasks of \(tenant) in all pools together")
        }
        func isShown(_ name: TenantID) -> Bool { scope.holds(name, in: nil) && (tenant ?? name) == name }
        let found: (times: [TaskTimeRollup], usual: [TaskTimeRollup])
        do {
            found = (
                try await records.taskTimes(from: from, to: to, tenant: tenant),
                try await records.taskTimes(
                    from: from.adding(seconds: -TaskTimesAnswer.usualSeconds), to: from, tenant: tenant)
            )
        } catch { throw .unreadable(error) }
        let paces = board.newestReport?.tasks.paces ?? []
        return .json(
            TaskTimesAnswer(
                found.times.filter { isShown($0.tenant) }, usual: found.usual,
                paces: paces.filter { isShown($0.tenant) }, from: from, to: to
            ).encoded())
    }

    private func rule(_ call: PeopleCall, _ verdict: TaskRuling.Verdict) async throws(HTTPError) -> HTTPResponse {
        try call.check(query: [])
        let request = try reading { try TaskRulingRequest.decode(call.body) }
        let name = TaskName(request.task, of: try tenant(of: request, call))
        try requireScope(call, name)
        try await requireOwn(call, name)
        let now = board.time.now()
        let wanted = TaskRuling(
            name: name, verdict: verdict,
            authorship: Authorship(
                author: call.grant.author, reason: request.reason, at: now,
                until: now.adding(seconds: request.expiresInSeconds)))
        let ruling = try await asking { try await steering.rule(wanted) }
        return .json(status: 201, PeopleAnswer.ruling(ruling))
    }

    /// Of those that the caller sees, the one that has the task. A task may be stopped before it is first seen: then the
    /// tenant has to be named.
    private func tenant(of request: TaskRulingRequest, _ call: PeopleCall) throws(HTTPError) -> TenantID {
        if let tenant = request.tenant { return tenant }
        let known = visible(board.newestReport?.tasks.tasks ?? [], call).filter { $0.name.task == request.task }
        guard let first = known.first else {
            throw HTTPError(
                .noSuch,
                "no task \"\(request.task)\" is listed by GET \(Self.path); name its tenant, if it is to be ruled on all the same"
            )
        }
        guard known.count == 1 else {
            throw HTTPError(
                .conflict,
                "several tenants have a task \"\(request.task)\": "
                    + known.prefix(5).map(\.name.tenant.text).joined(separator: ", ") + "; name the tenant")
        }
        return first.name.tenant
    }

    /// What another person has stopped or lifted takes an operator.
    private func requireOwn(_ call: PeopleCall, _ name: TaskName) async throws(HTTPError) {
        guard !call.grant.hasRole(AccessRule.operators) else { return }
        let held = try await asking { try await steering.steering() }
        let now = board.time.now()
        guard let ruling = held.taskRulings.first(where: { $0.name == name && $0.authorship.holds(at: now) }),
            ruling.authorship.author != call.grant.author
        else { return }
        throw HTTPError(
            .forbidden,
            "\(ruling.authorship.author) has the last word on the task \(name) until it ends; sre or admin may change it"
        )
    }

    // MARK: Scope

    /// Sums over all pools are for tokens without a bound on pools; a gateway works for all tenants.
    private func visible(_ tasks: [TaskReport], _ call: PeopleCall) -> [TaskReport] {
        let scope = call.grant.scope
        guard !scope.isWhole else { return tasks }
        return tasks.filter { scope.holds($0.name.tenant, in: nil) }.map { task in
            var task = task
            task.gateways = []
            return task
        }
    }

    /// A task calls in any pool.
    private func requireScope(_ call: PeopleCall, _ name: TaskName) throws(HTTPError) {
        try call.requireScope(
            call.grant.scope.holds(name.tenant, in: nil), "the tasks of \(name.tenant) in all pools together")
    }
}

import HeadroomJSON
import HeadroomModel
import HeadroomWire

/// `POST /v1/tenants/{id}/share`: a link by which somebody sees one tenant and nothing else, for a while.
///
/// The link bears a viewer's token behind its `#`, which browsers do not send: it is in no log of a proxy. It ends with the
/// token of the person who made it, and one person may have a hundred of them in force.
struct ShareRoutes: Sendable {
    /// `nil`: no tokens are kept here.
    let share: TenantSharing?
    let time: TimeSource

    private static let seconds = 3600.0...90 * 86_400.0

    var all: [Route] {
        guard let share else { return [] }
        return [
            .person(.post, "/v1/tenants/{id}/share", AccessRule.overriders, .scope, bodyLimit: Route.personBodyBytes) {
                call in
                try await link(call, share)
            }
        ]
    }

    private func link(_ call: PeopleCall, _ share: TenantSharing) async throws -> HTTPResponse {
        try call.check(query: [])
        let tenant: TenantID = try call.identifier()
        try call.requireScope(call.grant.scope.holds(tenant), "\(tenant)")
        // The first token ends the time in which everybody on this machine may do everything.
        guard !call.grant.isOpen else {
            throw HTTPError(
                .conflict,
                "there are no tokens yet, and a link's would be the first: make an administrator's with "
                    + "\"headroom token create\"")
        }
        guard let body = try? JSONNode.parse(call.body), let seconds = body["expires_in_seconds"]?.number,
            Self.seconds.contains(seconds), body.members?.count == 1
        else {
            throw HTTPError(.badRequest, "send {\"expires_in_seconds\":604800}: an hour to ninety days")
        }
        let until = time.now().adding(seconds: seconds)
        let made = try await asking { try await share(tenant, call.grant.scope.pools, call.grant.author, until) }
        return .json(status: 201) { writer in
            writer.beginObject()
            writer.field("name", made.name)
            writer.field("path", "/#/share/\(tenant)/\(made.secret)")
            writer.field("until", made.until)
            writer.endObject()
        }
    }
}

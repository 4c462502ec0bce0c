import HeadroomClient
import HeadroomHTTP
import HeadroomJSON
import HeadroomModel

/// `POST /v1/missed`: calls came to a door while the gate was away, and passed without asking or were refused. Headroom has
/// to hear of them: the provider has served them, or a tenant went without.
struct MissedCalls {
    private let call: Call
    private let calls: Int
    private let passed: Bool
    private let seconds: Double

    private static let counts = 1...1_000_000
    /// Older lines enter no live window.
    private static let longestSeconds = 300.0

    init(_ body: [UInt8], _ defaults: GateDefaults) throws(HTTPError) {
        let fields: SlotRequest.Fields
        do { fields = SlotRequest.Fields(try JSONNode.parse(body)) } catch {
            throw HTTPError(.badRequest, "the body is no JSON: \(error.message)")
        }
        guard let tenant = try fields.name("tenant", TenantID.self) ?? defaults.tenant else {
            throw HTTPError(.badRequest, "tenant is missing: name the tenant whose calls they were")
        }
        guard let pool = try fields.name("pool", PoolID.self) ?? defaults.pool else {
            throw HTTPError(.badRequest, "pool is missing: name the pool, or start the gate with --pool")
        }
        guard let calls = try fields.whole("calls", in: Self.counts) else {
            throw HTTPError(.badRequest, "calls is missing: how many came while the gate was away")
        }
        var call = Call(
            tenant: tenant, pool: pool, inputTokens: try fields.count("tokens") ?? SlotRequest.unknownTokens)
        call.criticality = try fields.criticality() ?? .interactive
        call.model = try fields.text("model")
        self.call = call
        self.calls = calls
        passed = try fields.flag("passed") ?? true
        seconds = min(try fields.number("seconds") ?? 0, Self.longestSeconds)
    }

    func note(in manager: BudgetManager) throws(HTTPError) -> HTTPResponse {
        let noted: Int
        do {
            noted = try manager.pool(call.pool).noteMissed(call, calls: calls, passed: passed, seconds: seconds)
        } catch {
            throw HTTPError(.badRequest, error.description)
        }
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("noted", noted)
        writer.endObject()
        return HTTPResponse(type: "application/json", body: writer.bytes)
    }
}

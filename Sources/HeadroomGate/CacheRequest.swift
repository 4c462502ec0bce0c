import HeadroomClient
import HeadroomHTTP
import HeadroomJSON
import HeadroomModel

/// `POST /v1/cache/lookup` and `POST /v1/cache`: answers to be used again.
struct CacheRequest {
    private let question: CacheQuestion
    /// As which a hit is reported.
    private let call: Call
    private let fields: SlotRequest.Fields

    static func lookup(
        _ body: [UInt8], _ defaults: GateDefaults, _ manager: BudgetManager
    ) throws(HTTPError) -> HTTPResponse {
        let request = try CacheRequest(body, defaults, manager)
        var writer = JSONWriter(capacity: 256)
        writer.beginObject()
        if let found = manager.cachedAnswer(to: request.question, for: request.call) {
            writer.field("hit", found.isExact ? "exact" : "similar")
            writer.field("similarity", found.similarity)
            writer.field("age_ms", Int64(found.age / .milliseconds(1)))
            writer.field("input_tokens", found.inputTokens)
            writer.field("output_tokens", found.outputTokens)
            writer.key("answer")
            writer.raw(found.body)
        } else {
            writer.key("hit")
            writer.null()
        }
        writer.endObject()
        return HTTPResponse(type: "application/json", body: writer.bytes)
    }

    static func keep(
        _ body: [UInt8], _ defaults: GateDefaults, _ manager: BudgetManager
    ) throws(HTTPError) -> HTTPResponse {
        let request = try CacheRequest(body, defaults, manager)
        guard let answer = request.fields.any("answer") else {
            throw HTTPError(.badRequest, "answer is missing: any JSON, which a hit gives back")
        }
        let isKept = manager.cache?.keep(
            answer.encoded(), to: request.question, inputTokens: try request.fields.count("input_tokens") ?? 0,
            outputTokens: try request.fields.count("output_tokens") ?? 0)
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("kept", isKept ?? false)
        writer.endObject()
        return HTTPResponse(type: "application/json", body: writer.bytes)
    }

    private init(_ body: [UInt8], _ defaults: GateDefaults, _ manager: BudgetManager) throws(HTTPError) {
        guard manager.cache != nil else {
            throw HTTPError(.noSuch, "this gate keeps no answers: start it with --cache-megabytes")
        }
        do { fields = SlotRequest.Fields(try JSONNode.parse(body)) } catch {
            throw HTTPError(.badRequest, "the body is no JSON: \(error.message)")
        }
        guard let tenant = try fields.name("tenant", TenantID.self) ?? defaults.tenant else {
            throw HTTPError(.badRequest, "tenant is missing: name the tenant whose question it is")
        }
        guard let pool = try fields.name("pool", PoolID.self) ?? defaults.pool else {
            throw HTTPError(.badRequest, "pool is missing: name the pool, or start the gate with --pool")
        }
        guard let model = try fields.text("model") else {
            throw HTTPError(.badRequest, "model is missing: an answer of one model is none of another's")
        }
        guard let asked = fields.any("question") ?? fields.any("messages") else {
            throw HTTPError(
                .badRequest, "question is missing: all that the answer depends on, as a text or as any other JSON")
        }
        question = CacheQuestion(
            tenant: tenant, model: model, work: try fields.work(),
            text: String(decoding: asked.encoded(), as: UTF8.self), vector: try Self.vector(fields))
        var call = Call(tenant: tenant, pool: pool, inputTokens: 0)
        call.criticality = try fields.criticality() ?? .interactive
        call.request = try fields.text("request")
        call.task = try fields.text("task")
        call.parent = try fields.text("parent")
        call.model = model
        self.call = call
    }

    private static func vector(_ fields: SlotRequest.Fields) throws(HTTPError) -> [Float]? {
        guard let node = fields.any("vector") else { return nil }
        let numbers = (node.array ?? []).compactMap { $0.number.map { Float($0) } }
        guard let array = node.array, numbers.count == array.count, (1...4096).contains(numbers.count),
            numbers.allSatisfy(\.isFinite)
        else { throw HTTPError(.badRequest, "vector: must be a list of 1 to 4096 numbers") }
        return numbers
    }
}

import HeadroomJSON
import HeadroomModel

/// The body of `POST /v1/draw` (WireFormat §2.1).
extension DrawRequest {
    package func encoded() -> [UInt8] {
        var writer = JSONWriter(capacity: 512)
        writer.beginObject()
        writer.field("gateway", gateway.text)
        if let member { writer.field("member", member) }
        writer.field("boot", boot)
        writer.field("sequence", sequence)
        writer.field("pool", pool.text)
        writer.field("epoch", epoch)
        writer.key("totals")
        writer.beginObject()
        writer.key("returned")
        writer.append(totals.returned)
        writer.key("granted_used")
        writer.append(totals.grantedUsed)
        writer.key("spent")
        writer.beginObject()
        for entry in totals.spent {
            writer.key(entry.tenant.text)
            writer.append(entry.work)
        }
        writer.endObject()
        writer.endObject()
        writer.key("waiting")
        writer.beginObject()
        for queue in waiting {
            writer.key(queue.tenant.text)
            writer.beginArray()
            for head in queue.heads.prefix(DrawRequest.maxHeads) { writer.append(head) }
            writer.endArray()
        }
        writer.endObject()
        if let holds { writer.field("holds", holds) }
        writer.endObject()
        return writer.bytes
    }

    /// Fields that are not known are ignored. Heads beyond ``maxHeads`` a tenant are read and dropped.
    package static func decode(_ bytes: [UInt8]) throws(WireError) -> DrawRequest {
        var reader = DrawReader(bytes)
        do { return try reader.request() } catch { throw reader.fault(error) }
    }
}

extension JSONWriter {
    /// Resources without an amount are left out, but for requests and tokens.
    fileprivate mutating func append(_ work: Work) {
        beginObject()
        field("requests", work[.requests])
        appendTokens(of: work)
        endObject()
    }

    /// One request, unless it says otherwise.
    fileprivate mutating func append(_ head: DrawRequest.Head) {
        beginObject()
        if head.estimate[.requests] != 1 { field("requests", head.estimate[.requests]) }
        appendTokens(of: head.estimate)
        field("criticality", head.criticality.name)
        if let waited = head.waitedSeconds { field("waited_ms", (waited * 1000).rounded()) }
        if head.patienceSeconds < .infinity { field("patience_ms", (head.patienceSeconds * 1000).rounded()) }
        endObject()
    }

    private mutating func appendTokens(of work: Work) {
        field("tokens", work[.tokens])
        if work[.inputTokens] != 0 { field("input_tokens", work[.inputTokens]) }
        if work[.outputTokens] != 0 { field("output_tokens", work[.outputTokens]) }
    }
}

private struct DrawReader {
    private let bytes: [UInt8]
    private var reader: JSONReader
    /// Names of the objects around the value being read: the subject of a fault's sentence.
    private var path: [String] = []

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        reader = JSONReader(bytes)
    }

    private enum HeadField: String, CaseIterable {
        case gateway, member, boot, sequence, pool, epoch, totals, waiting, holds
    }

    private static let headFields = WireFields(HeadField.self)

    mutating func request() throws -> DrawRequest {
        var gateway: GatewayID?
        var member: GatewayID?
        var boot: GatewayID?
        var sequence: Int64?
        var pool: PoolID?
        var epoch: Int64?
        var totals = DrawRequest.Totals()
        var waiting: [DrawRequest.Queue] = []
        var holds: Bool?
        var cursor = FieldCursor()
        try reader.beginObject()
        let fields = DrawReader.headFields
        while let field = try reader.nextField(of: fields, at: &cursor) {
            path = [field.rawValue]
            switch field {
            case .gateway: gateway = try identifier()
            // Words by the same rule as names.
            case .member: member = try identifier()
            case .boot: boot = try identifier()
            case .sequence: sequence = try whole()
            case .pool: pool = try identifier()
            case .epoch: epoch = try whole()
            case .totals: totals = try self.totals()
            case .waiting: waiting = try self.waiting()
            case .holds: holds = try reader.readBool()
            }
        }
        path = []
        try reader.endDocument()
        guard let gateway else { throw missing("gateway", "the name that the gateway polls as") }
        guard let boot else { throw missing("boot", "a word that is new at each start of the process") }
        guard let sequence else { throw missing("sequence", "a number that ascends with each draw since the boot") }
        guard let pool else { throw missing("pool", "the pool whose float is drawn from") }
        guard let epoch else { throw missing("epoch", "that of the snapshot in force at the gateway") }
        return DrawRequest(
            gateway: gateway, member: member?.text, boot: boot.text, sequence: sequence, pool: pool, epoch: epoch,
            totals: totals, waiting: waiting, holds: holds)
    }

    private enum TotalField: String, CaseIterable {
        case returned, spent
        case grantedUsed = "granted_used"
    }

    private static let totalFields = WireFields(TotalField.self)

    private mutating func totals() throws -> DrawRequest.Totals {
        var totals = DrawRequest.Totals()
        var cursor = FieldCursor()
        try reader.beginObject()
        let fields = DrawReader.totalFields
        while let field = try reader.nextField(of: fields, at: &cursor) {
            path = ["totals", field.rawValue]
            switch field {
            case .returned: totals.returned = try work(requests: 0)
            case .grantedUsed: totals.grantedUsed = try work(requests: 0)
            case .spent:
                totals.spent = try byTenant(\.tenant) { reader, tenant throws in
                    DrawRequest.TenantWork(tenant: tenant, work: try reader.work(requests: 0))
                }
            }
        }
        return totals
    }

    private mutating func waiting() throws -> [DrawRequest.Queue] {
        try byTenant(\.tenant) { reader, tenant throws in
            DrawRequest.Queue(tenant: tenant, heads: try reader.heads())
        }
    }

    /// Ascending by tenant, each once: of two queues of one tenant the float would grant the calls of both.
    private mutating func byTenant<Element>(
        _ tenant: (Element) -> TenantID, _ read: (inout DrawReader, TenantID) throws -> Element
    ) throws -> [Element] {
        var elements: [Element] = []
        let outside = path
        try reader.beginObject()
        while let key = try reader.nextKey() {
            let text = reader.string(of: key)
            guard let id = TenantID(text) else { throw fault("\"\(text)\" is no tenant: \(TenantID.rule)") }
            path = outside + [text]
            elements.append(try read(&self, id))
        }
        path = outside
        elements.sort { tenant($0) < tenant($1) }
        for (element, next) in zip(elements, elements.dropFirst()) where tenant(element) == tenant(next) {
            throw fault("\(tenant(next)) stands twice: remove one")
        }
        return elements
    }

    private mutating func heads() throws -> [DrawRequest.Head] {
        var heads: [DrawRequest.Head] = []
        try reader.beginArray()
        while try reader.nextElement() {
            if heads.count < DrawRequest.maxHeads {
                heads.append(try head())
            } else {
                try reader.skipValue()
            }
        }
        return heads
    }

    private enum WaitingField: String, CaseIterable {
        case requests, tokens, criticality
        case inputTokens = "input_tokens"
        case outputTokens = "output_tokens"
        case waited = "waited_ms"
        case patience = "patience_ms"
    }

    private static let waitingFields = WireFields(WaitingField.self)

    private mutating func head() throws -> DrawRequest.Head {
        var head = DrawRequest.Head(estimate: Work(requests: 1))
        var tokens: Double?
        var cursor = FieldCursor()
        try reader.beginObject()
        let fields = DrawReader.waitingFields
        while let field = try reader.nextField(of: fields, at: &cursor) {
            switch field {
            case .requests: head.estimate[.requests] = try amount()
            case .tokens: tokens = try amount()
            case .inputTokens: head.estimate[.inputTokens] = try amount()
            case .outputTokens: head.estimate[.outputTokens] = try amount()
            case .criticality: head.criticality = try criticality()
            case .waited: head.waitedSeconds = try amount() / 1000
            case .patience: head.patienceSeconds = try amount() / 1000
            }
        }
        head.estimate[.tokens] = tokens ?? head.estimate[.inputTokens] + head.estimate[.outputTokens]
        return head
    }

    private enum WorkField: String, CaseIterable {
        case requests, tokens
        case inputTokens = "input_tokens"
        case outputTokens = "output_tokens"
    }

    private static let workFields = WireFields(WorkField.self)

    /// Without `tokens` they are the sum of both kinds.
    private mutating func work(requests: Double) throws -> Work {
        var work = Work(requests: requests)
        var tokens: Double?
        var cursor = FieldCursor()
        try reader.beginObject()
        let fields = DrawReader.workFields
        while let field = try reader.nextField(of: fields, at: &cursor) {
            let number = try reader.readDouble()
            guard abs(number) <= DrawReader.mostWork else { throw fault("a number of at most 1e15, found \(number)") }
            switch field {
            case .requests: work[.requests] = number
            case .tokens: tokens = number
            case .inputTokens: work[.inputTokens] = number
            case .outputTokens: work[.outputTokens] = number
            }
        }
        work[.tokens] = tokens ?? work[.inputTokens] + work[.outputTokens]
        return work
    }

    /// Years of the largest quotas; sums stay exact in whole numbers.
    private static let mostWork = 1e15
    /// Of one waiting call: tokens, or the milliseconds of a day.
    private static let mostOfOne = 1e9

    private mutating func amount() throws -> Double {
        let number = try reader.readDouble()
        guard (0...DrawReader.mostOfOne).contains(number) else {
            throw fault("a number from 0 to 1000000000, found \(number)")
        }
        return number
    }

    private mutating func whole() throws -> Int64 {
        let number = try reader.readInt64()
        guard number >= 0 else { throw fault("a whole number of at least 0, found \(number)") }
        return number
    }

    private mutating func criticality() throws -> Criticality {
        let text = try reader.readString()
        if let found = Criticality(name: text) { return found }
        throw fault(
            "\"\(text.prefix(60))\" is no criticality: one of "
                + Criticality.allCases.map(\.name).joined(separator: ", "))
    }

    private mutating func identifier<Kind>() throws -> Identifier<Kind> {
        let text = try reader.readString()
        guard let identifier = Identifier<Kind>(text) else {
            throw fault("\"\(text.prefix(130))\" is no name; one is \(Identifier<Kind>.rule)")
        }
        return identifier
    }

    private func missing(_ field: String, _ rule: String) -> WireError {
        WireError(.unreadable, "\(field) is missing: \(rule)")
    }

    private func fault(_ sentence: String) -> WireError {
        WireError(.unreadable, path.isEmpty ? sentence : "\(path.joined(separator: ".")): \(sentence)")
    }

    func fault(_ error: any Error) -> WireError {
        if let error = error as? WireError { return error }
        guard let error = error as? JSONError else { return WireError(.unreadable, "\(error)") }
        let place = JSONPosition(of: error.offset, in: bytes)
        return fault("\(error.message) (\(place))")
    }
}

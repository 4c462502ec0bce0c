import HeadroomJSON
import HeadroomModel

extension TelemetryLineReader {
    private enum QueueField: String, CaseIterable {
        case type, id, at, gateway, tenant, pool, criticality, depth, tokens
        case oldestAge = "oldest_age_ms"
    }

    private static let queueFields = WireFields(QueueField.self)

    /// Work may wait for a week before one must ask whether the number is right.
    private static let longestWaitMilliseconds = 7.0 * 86_400_000

    mutating func queue() throws -> TelemetryBatch.Line {
        var id: String?
        var at: Int64?
        var gateway: GatewayID?
        var tenant: TenantID?
        var pool: PoolID?
        var criticality = Criticality.interactive
        var depth: Int64?
        var tokens: Int64 = 0
        var oldestAge = 0.0
        let fields = TelemetryLineReader.queueFields
        while let field = try nextField(of: fields) {
            switch field {
            case .type: try reader.skipValue()
            case .id: id = try text()
            case .at: at = try instant()
            case .gateway: gateway = try identifier()
            case .tenant: tenant = try identifier()
            case .pool: pool = try identifier()
            case .criticality: criticality = try self.criticality()
            case .depth: depth = try count()
            case .tokens: tokens = try count()
            case .oldestAge: oldestAge = try number(0...TelemetryLineReader.longestWaitMilliseconds)
            }
        }
        guard let depth else { throw missing("depth", "how many requests wait, 0 or more") }
        let time = try lineTime(at)
        let record = QueueRecord(
            at: time.at, gateway: try self.gateway(gateway), tenant: try required(tenant), pool: try required(pool),
            criticality: criticality, depth: depth, tokens: tokens, oldestAgeMilliseconds: oldestAge)
        return TelemetryBatch.Line(number: lineNumber, id: id, record: .queue(record), isLate: time.isLate)
    }

    private enum TaskField: String, CaseIterable {
        case type, id, at, gateway, tenant, pool, criticality, task, parent, state, progress
        case remainingRequests = "remaining_requests"
        case remainingTokens = "remaining_tokens"
    }

    private static let taskFields = WireFields(TaskField.self)

    mutating func task() throws -> TelemetryBatch.Line {
        var id: String?
        var at: Int64?
        var gateway: GatewayID?
        var tenant: TenantID?
        var pool: PoolID?
        var criticality = Criticality.interactive
        var task: String?
        var parent: String?
        var state: TaskRecord.State?
        var progress: Double?
        var remainingRequests: Int64?
        var remainingTokens: Int64?
        let fields = TelemetryLineReader.taskFields
        while let field = try nextField(of: fields) {
            switch field {
            case .type: try reader.skipValue()
            case .id: id = try text()
            case .at: at = try instant()
            case .gateway: gateway = try identifier()
            case .tenant: tenant = try identifier()
            case .pool: pool = try identifier()
            case .criticality: criticality = try self.criticality()
            case .task: task = try text()
            case .parent: parent = try text()
            case .state: state = try self.state()
            case .progress: progress = try number(0...1)
            case .remainingRequests: remainingRequests = try count()
            case .remainingTokens: remainingTokens = try count()
            }
        }
        guard let task else { throw missing("task", "the task's name") }
        guard let state else { throw missing("state", list(TaskRecord.State.allCases.map(\.name))) }
        let time = try lineTime(at)
        let record = TaskRecord(
            at: time.at, gateway: try self.gateway(gateway), tenant: try required(tenant), pool: try required(pool),
            criticality: criticality, task: task, parent: parent, state: state, progress: progress,
            remainingRequests: remainingRequests, remainingTokens: remainingTokens)
        return TelemetryBatch.Line(number: lineNumber, id: id, record: .task(record), isLate: time.isLate)
    }

    private mutating func state() throws -> TaskRecord.State {
        let text = try reader.readText()
        let name = reader.string(of: text)
        guard let state = TaskRecord.State.allCases.first(where: { $0.name == name }) else {
            throw fault("\(quoted(text)) is no state: \(list(TaskRecord.State.allCases.map(\.name)))")
        }
        return state
    }

    private enum ModelField: String, CaseIterable {
        case type, id, at, gateway, pool, model, version
    }

    private static let modelFields = WireFields(ModelField.self)

    mutating func model() throws -> TelemetryBatch.Line {
        var id: String?
        var at: Int64?
        var gateway: GatewayID?
        var pool: PoolID?
        var model: String?
        var version: String?
        let fields = TelemetryLineReader.modelFields
        while let field = try nextField(of: fields) {
            switch field {
            case .type: try reader.skipValue()
            case .id: id = try text()
            case .at: at = try instant()
            case .gateway: gateway = try identifier()
            case .pool: pool = try identifier()
            case .model: model = try label()
            case .version: version = try label()
            }
        }
        guard let model else { throw missing("model", "the name under which calls ask for the model") }
        guard let version else { throw missing("version", "the version that now answers to this name") }
        if gateway != nil { gateway = try self.gateway(gateway) }
        let time = try lineTime(at)
        let record = ModelRecord(
            at: time.at, gateway: gateway ?? arrival.gateway, pool: try required(pool), model: model,
            version: version)
        return TelemetryBatch.Line(number: lineNumber, id: id, record: .model(record), isLate: time.isLate)
    }
}

import HeadroomModel

/// Which answers of a tenant may be used again.
public struct CachePolicy: Equatable, Sendable {
    /// How alike two questions are at least, by the cosine of their vectors. 1: only the same question.
    ///
    /// What is enough depends on the model of the vectors; 0.95 is cautious for most.
    public var similarity: Double
    /// An answer is used for so long.
    public var timeToLive: Duration
    /// Kinds of work whose answers may be used again.
    public var work: Set<Call.WorkKind>
    /// Tenants with the same group use each other's answers. `nil`: a tenant has only its own.
    public var group: String?

    public init(
        similarity: Double = 0.95, timeToLive: Duration = .seconds(3600), work: Set<Call.WorkKind> = [.model],
        group: String? = nil
    ) {
        self.similarity = similarity
        self.timeToLive = timeToLive
        self.work = work
        self.group = group
    }
}

/// What a call asks, as far as a cache is concerned. Two questions of other models are never alike.
public struct CacheQuestion: Equatable, Sendable {
    public var tenant: TenantID
    public var model: String
    public var work: Call.WorkKind
    /// All that the answer depends on: messages, tools, parameters. The same text is the same question.
    public var text: String
    /// Its direction in the space of an embedding model, which the caller asks. Only vectors of one length are compared.
    public var vector: [Float]?

    public init(tenant: TenantID, model: String, work: Call.WorkKind = .model, text: String, vector: [Float]? = nil) {
        self.tenant = tenant
        self.model = model
        self.work = work
        self.text = text
        self.vector = vector
    }
}

/// An answer that was kept.
public struct CachedAnswer: Equatable, Sendable {
    public var body: [UInt8]
    /// 1 for the same question.
    public var similarity: Double
    /// The same text was asked.
    public var isExact: Bool
    public var age: Duration
    /// What the answer cost when it was new, and what it saves now.
    public var inputTokens: Int
    public var outputTokens: Int
}

import HeadroomJSON
import HeadroomModel

// The cost breaker's ceilings: read from files and written as files would state them.

extension CostBreakerPolicy {
    static let fields: [PolicyField<CostBreakerPolicy>] = [
        PolicyField("window_seconds", \.windowSeconds, 60...86_400, "seconds"),
        PolicyField("tenant_micros", whole: \.tenantMicros, 0...CostTerms.largest, "millionths of the currency's unit"),
        PolicyField("rate_seconds", \.rateSeconds, 30...1800, "seconds"),
        PolicyField("notice_seconds", \.noticeSeconds, 0.1...3600, "seconds"),
        PolicyField("slow_share", \.slowShare, 0.05...1, "part of what is left for each minute"),
        PolicyField("resume_share", \.resumeShare, 0.01...0.99, "part of the ceiling"),
    ]

    mutating func read(_ root: CheckedObject) {
        var section = root
        if let currency = section.currency("currency") { self.currency = currency }
        var ceilings: [CostSubject: Int64] = [:]
        for (node, key) in section.list("ceilings", count: 0...1000, of: "ceilings") ?? [] {
            guard let (subject, micros) = Self.ceiling(node, key: key, file: section.file) else { continue }
            if ceilings.updateValue(micros, forKey: subject) != nil {
                section.file.report(
                    .duplicateName, key: key, offset: node.offset, "a second ceiling of \(subject)")
            }
        }
        self.ceilings = ceilings
        section.read(Self.fields, into: &self)
    }

    private static func ceiling(
        _ node: JSONNode, key: String, file: CheckedFile
    ) -> (CostSubject, Int64)? {
        guard var section = CheckedObject(node, key: key, file: file) else { return nil }
        section.require("micros", "the most that may be spent in a window, in millionths of the currency's unit")
        let tenant = section.word("tenant")
        let kind = section.text(
            "task_kind", "a kind of agent task, as telemetry states it",
            isRight: { !$0.isEmpty && $0.count <= CostSubject.maxKindCharacters })
        let micros = section.money("micros")
        section.end()
        guard !file.hasFault(in: key) else { return nil }
        guard (tenant == nil) != (kind == nil) else {
            file.report(
                .missing, key: key, offset: node.offset, "must name either a tenant or a task_kind, and not both")
            return nil
        }
        let subject = tenant.map { CostSubject.tenant(TenantID(unchecked: $0)) } ?? .taskKind(kind ?? "")
        return micros.map { (subject, $0) }
    }
}

extension JSONWriter {
    mutating func costBreaker(_ policy: CostBreakerPolicy) {
        key("cost_breaker")
        beginObject()
        field("currency", policy.currency)
        for field in CostBreakerPolicy.fields {
            key(field.key)
            number(field.get(policy))
        }
        field("ceilings", each: policy.ceilings.sorted { $0.key < $1.key }) { writer, ceiling in
            writer.beginObject()
            switch ceiling.key {
            case .tenant(let tenant): writer.field("tenant", tenant.text)
            case .taskKind(let kind): writer.field("task_kind", kind)
            }
            writer.field("micros", ceiling.value)
            writer.endObject()
        }
        endObject()
    }
}

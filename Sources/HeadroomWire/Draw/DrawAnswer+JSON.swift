import HeadroomJSON
import HeadroomModel

/// The answer to `POST /v1/draw` (WireFormat §2.1).
extension DrawAnswer {
    package func encoded() -> [UInt8] {
        var writer = JSONWriter(capacity: 256)
        writer.beginObject()
        writer.field("sequence", sequence)
        writer.key("granted")
        writer.beginObject()
        for entry in granted {
            writer.key(entry.tenant.text)
            writer.integer(entry.calls)
        }
        writer.endObject()
        writer.key("granted_total")
        writer.beginObject()
        for resource in Resource.allCases {
            let amount = grantedTotal[resource]
            if amount == 0, resource == .inputTokens || resource == .outputTokens { continue }
            writer.key(resource.name)
            writer.number(amount)
        }
        writer.endObject()
        writer.key("service_clocks")
        writer.beginObject()
        for clock in serviceClocks {
            writer.key(clock.tenant.text)
            writer.number(clock.serviceClock)
        }
        writer.endObject()
        writer.field("wait_ms", waitMilliseconds)
        if isAmple { writer.field("ample", true) }
        writer.endObject()
        return writer.bytes
    }

    /// Fields that are not known are ignored; what is absent is nothing.
    package static func decode(_ bytes: [UInt8]) throws(WireError) -> DrawAnswer {
        let document: JSONNode
        do { document = try JSONNode.parse(bytes) } catch {
            throw WireError(.unreadable, "not valid JSON: \(error)")
        }
        func whole(_ node: JSONNode?) -> Int64? { node?.number.flatMap { Int64(exactly: $0) } }
        guard let sequence = whole(document["sequence"]), let wait = whole(document["wait_ms"]), wait >= 0 else {
            throw WireError(.unreadable, "an answer to a draw has sequence and wait_ms, whole numbers")
        }
        var answer = DrawAnswer(
            sequence: sequence, waitMilliseconds: wait, isAmple: document["ample"]?.value == .bool(true))
        for member in document["granted"]?.members ?? [] {
            guard let tenant = TenantID(member.key), let calls = whole(member.value), calls >= 0 else {
                throw WireError(.unreadable, "granted: \(member.key) has no number of calls")
            }
            answer.granted.append(Granted(tenant: tenant, calls: Int(calls)))
        }
        for resource in Resource.allCases {
            answer.grantedTotal[resource] = document["granted_total"]?[resource.name]?.number ?? 0
        }
        for member in document["service_clocks"]?.members ?? [] {
            guard let tenant = TenantID(member.key), let clock = member.value.number else {
                throw WireError(.unreadable, "service_clocks: \(member.key) has no clock")
            }
            answer.serviceClocks.append(Clock(tenant: tenant, serviceClock: clock))
        }
        answer.granted.sort { $0.tenant < $1.tenant }
        answer.serviceClocks.sort { $0.tenant < $1.tenant }
        return answer
    }
}

import HeadroomJSON
import HeadroomModel

/// The answer to `POST /v1/telemetry`: every accepted line is committed.
package struct TelemetryAnswer: Equatable, Sendable {
    package var receipt: TelemetryReceipt
    /// Seconds of a pool's capacity, for the tenants in the request.
    package var serviceClocks: [PoolID: [TenantID: Double]]

    package init(receipt: TelemetryReceipt, serviceClocks: [PoolID: [TenantID: Double]] = [:]) {
        self.receipt = receipt
        self.serviceClocks = serviceClocks
    }

    package func encoded() -> [UInt8] {
        var writer = JSONWriter(capacity: 256)
        writer.beginObject()
        writer.field("accepted", receipt.accepted)
        writer.field("duplicate", receipt.duplicate)
        writer.field("late", receipt.late)
        writer.key("rejected")
        writer.beginArray()
        for fault in receipt.rejected {
            writer.beginObject()
            writer.field("line", fault.line)
            writer.field("detail", fault.detail)
            writer.endObject()
        }
        writer.endArray()
        writer.key("service_clocks")
        writer.beginObject()
        for (pool, clocks) in serviceClocks.sorted(by: { $0.key < $1.key }) {
            writer.key(pool.text)
            writer.beginObject()
            for (tenant, clock) in clocks.sorted(by: { $0.key < $1.key }) {
                writer.key(tenant.text)
                writer.number(clock)
            }
            writer.endObject()
        }
        writer.endObject()
        writer.endObject()
        return writer.bytes
    }

    /// Fields that are not known are ignored; a count that is absent is 0.
    package static func decode(_ bytes: [UInt8]) throws(WireError) -> TelemetryAnswer {
        let document: JSONNode
        do { document = try JSONNode.parse(bytes) } catch {
            throw WireError(.unreadable, "not valid JSON: \(error)")
        }
        guard document.members != nil else { throw WireError(.unreadable, "expected an object") }
        func count(_ key: String) -> Int { document[key]?.number.flatMap { Int(exactly: $0) } ?? 0 }
        let rejected = (document["rejected"]?.array ?? []).map { fault in
            TelemetryReceipt.Fault(
                line: fault["line"]?.number.flatMap { Int(exactly: $0) } ?? 0, detail: fault["detail"]?.string ?? "")
        }
        var answer = TelemetryAnswer(
            receipt: TelemetryReceipt(
                accepted: count("accepted"), duplicate: count("duplicate"), late: count("late"), rejected: rejected))
        for pool in document["service_clocks"]?.members ?? [] {
            guard let id = PoolID(pool.key) else { throw WireError(.unreadable, "\(pool.key) is no pool") }
            for clock in pool.value.members ?? [] {
                guard let tenant = TenantID(clock.key), let seconds = clock.value.number else {
                    throw WireError(.unreadable, "service_clocks of \(pool.key): \(clock.key) has no clock")
                }
                answer.serviceClocks[id, default: [:]][tenant] = seconds
            }
        }
        return answer
    }
}

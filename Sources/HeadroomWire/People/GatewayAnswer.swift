import HeadroomJSON
import HeadroomModel

/// A gateway that takes part in the division of budgets, or for which a part is withheld, as `GET /v1/gateways` shows it.
package struct GatewayAnswer: Sendable {
    /// Its part of a pool.
    package struct Part: Equatable, Sendable {
        package var pool: PoolID
        package var budget: Rates
        /// The budget once its lease has run out.
        package var fallback: Rates

        package init(pool: PoolID, budget: Rates, fallback: Rates) {
            self.pool = pool
            self.budget = budget
            self.fallback = fallback
        }
    }

    package var gateway: GatewayID
    /// Everything up to ``driftSeconds`` is `nil` for a gateway that only the ledger knows: it was not heard of since the
    /// start.
    package var lastSeen: Timestamp?
    package var applied: SnapshotVersion?
    package var sent: SnapshotVersion?
    /// How far it is behind the newest generation. Generations of different epochs have no distance.
    package var driftGenerations: Int64?
    package var driftSeconds: Double?
    /// Budgets that the others are not given because this gateway, which vanished, may still be using them.
    package var withheld: [WithheldBudget]
    /// In the newest generation, ascending by pool; empty before it has a part.
    package var parts: [Part] = []
    /// What it has made of the float's grants lately, ascending by pool; pools that it was granted nothing in are left out.
    package var grantUses: [GrantUse] = []

    package init(gateway: GatewayID, withheld: [WithheldBudget]) {
        self.gateway = gateway
        self.withheld = withheld
    }

    package init(
        _ presence: GatewayPresence, driftSeconds: Double, newest: SnapshotVersion?, withheld: [WithheldBudget],
        parts: [Part] = []
    ) {
        self.init(gateway: presence.gateway, withheld: withheld)
        lastSeen = presence.lastSeen
        applied = presence.applied
        sent = presence.sent
        self.driftSeconds = driftSeconds
        self.parts = parts
        if let newest, let known = applied ?? sent, known.epoch == newest.epoch {
            driftGenerations = newest.generation - known.generation
        }
    }
}

extension JSONWriter {
    mutating func gateway(_ gateway: GatewayAnswer) {
        beginObject()
        field("gateway", gateway.gateway.text)
        field("last_seen", gateway.lastSeen)
        field("applied", gateway.applied?.description)
        field("sent", gateway.sent?.description)
        field("drift_generations", gateway.driftGenerations)
        field("drift_seconds", finite: gateway.driftSeconds)
        field("parts", each: gateway.parts) { writer, part in
            writer.beginObject()
            writer.field("pool", part.pool.text)
            writer.field("budget", part.budget)
            writer.field("fallback", part.fallback)
            writer.endObject()
        }
        field("draws", each: gateway.grantUses) { writer, use in
            writer.beginObject()
            writer.field("pool", use.pool.text)
            writer.field("granted", use.granted)
            writer.field("unused", use.unused)
            writer.endObject()
        }
        field("withheld", each: gateway.withheld) { writer, part in
            writer.beginObject()
            writer.field("pool", part.pool.text)
            writer.field("rates", part.rates)
            writer.field("until", part.until)
            writer.endObject()
        }
        endObject()
    }
}

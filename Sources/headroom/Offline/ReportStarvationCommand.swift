import HeadroomJSON
import HeadroomModel
import HeadroomStorage
import HeadroomWire

/// `headroom report starvation`: who was starved, when, and why, from the sums by minute and by hour.
enum ReportStarvationCommand {
    static let help = """
        usage: headroom report starvation [--days N] [--database FILE] [--json]

        A tenant is starved in a pool while, for longer than the policy's time, it gets less than the policy's share of
        what it asks for and is entitled to. The report names every tenant that was, the longest starved first.

          WHY delivery      it did not get what it was given: look at its gateways and its retries
              shortage      the pool had lost capacity: look at the provider
          SPELLS            starved times with less than an hour between them; --json lists each
          WAIT              the longest wait of a queued call meanwhile
          GOT               tokens that it got of those that it asked for meanwhile

          --days N          how far to look back; default 30. Minutes are kept for 35 days unless the policy says
                            otherwise; older data is by hours
          --database FILE   default \(Defaults.database)
          --json            one object: from, to, and the tenants with their spells
        """

    static func run(_ arguments: [String]) async throws -> Int32 {
        let options = ["--days": "N"].merging(CommandDatabase.option) { first, _ in first }
        let arguments = try Arguments(arguments, flags: ["--json"], options: options)
        let days = try arguments.number("--days", in: 0.01...3_660) ?? 30
        let to = CommandDatabase.now()
        let from = to.adding(seconds: -days * 86_400)
        let database = try CommandDatabase.open(arguments, mustExist: true)
        let starved = try await database.records.starvation(from: from, to: to)
        if arguments.has("--json") {
            Terminal.print(bytes: json(starved, from: from, to: to))
        } else if starved.isEmpty {
            Terminal.print("Nobody was starved from \(text(from)) to \(text(to)).")
        } else {
            Terminal.print(table(starved))
        }
        return 0
    }

    private static func table(_ starved: [StarvedTenant]) -> String {
        var table = TextTable(["TENANT", "POOL", "STARVED", "SPELLS", "LONGEST", "FIRST", "LAST", "WHY", "WAIT", "GOT"])
        for tenant in starved {
            table.add([
                tenant.tenant.text, tenant.pool.text, minutes(tenant.starvedSeconds), "\(tenant.spells.count)",
                minutes(tenant.longestSpellSeconds), text(tenant.first), text(tenant.last), tenant.reason.rawValue,
                "\(TextTable.number(tenant.longestWaitSeconds)) s", got(tenant),
            ])
        }
        return table.text
    }

    private static func minutes(_ seconds: Double) -> String { "\(TextTable.number(seconds / 60)) min" }

    private static func got(_ tenant: StarvedTenant) -> String {
        guard tenant.demandTokens > 0 else { return "-" }
        return "\(TextTable.number(Double(tenant.countedTokens) / tenant.demandTokens * 100)) %"
    }

    private static func text(_ instant: Timestamp) -> String { RFC3339.format(milliseconds: instant.milliseconds) }

    private static func json(_ starved: [StarvedTenant], from: Timestamp, to: Timestamp) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("from", from)
        writer.field("to", to)
        writer.key("tenants")
        writer.beginArray()
        for tenant in starved {
            writer.beginObject()
            writer.field("tenant", tenant.tenant.text)
            writer.field("pool", tenant.pool.text)
            writer.field("reason", tenant.reason.rawValue)
            writer.field("starved_seconds", tenant.starvedSeconds)
            writer.key("spells")
            writer.beginArray()
            for spell in tenant.spells { write(spell, to: &writer) }
            writer.endArray()
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        writer.newline()
        return writer.bytes
    }

    private static func write(_ spell: StarvedTenant.Spell, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("first", spell.first)
        writer.field("last", spell.last)
        writer.field("delivery_seconds", spell.deliverySeconds)
        writer.field("shortage_seconds", spell.shortageSeconds)
        writer.field("longest_wait_seconds", spell.longestWaitSeconds)
        writer.field("demand_tokens", spell.demandTokens)
        writer.field("counted_tokens", spell.countedTokens)
        writer.endObject()
    }
}

/// A row of a table that ascends by tenant, each once.
public protocol TenantRow {
    var tenant: TenantID { get }
}

/// Finds tenants in such a table, asked for in ascending order: a walk beside another table, without hashing.
public struct TenantWalk<Row: TenantRow> {
    private let rows: [Row]
    private var next = 0

    public init(_ rows: [Row]) {
        self.rows = rows
    }

    /// - Parameter tenant: no lower than the one before.
    public mutating func place(of tenant: TenantID) -> Int? {
        while next < rows.count, rows[next].tenant < tenant { next += 1 }
        return next < rows.count && rows[next].tenant == tenant ? next : nil
    }
}

import HeadroomModel

/// What webhooks were told, so that a start tells them the rest and nothing twice.
extension AlertStore {
    /// What concerns one webhook: the alerts that are open, those whose end it was not told, and how it knows each.
    package func standing(of sink: String) throws(StorageError) -> (alerts: [Alert], known: [AlertDelivery]) {
        var known: [AlertDelivery] = []
        try connection.statement(AlertStore.selectDeliveries).bind(":sink", sink).forEachRow { row in
            known.append(
                AlertDelivery(
                    alert: row.integer(0), severity: AlertSeverity(rawValue: Int(row.integer(1))) ?? .warning,
                    memberCount: Int(row.integer(2))))
        }
        var alerts = try openAlerts()
        for delivery in known {
            if let alert = try find(delivery.alert), alert.closedAt != nil { alerts.append(alert) }
        }
        return (alerts, known)
    }

    /// In one transaction.
    package func note(_ deliveries: [(sink: String, delivery: AlertDelivery)]) throws(StorageError) {
        try connection.transaction {
            for (sink, delivery) in deliveries {
                if delivery.isOver {
                    try connection.statement(AlertStore.deleteDelivery)
                        .bind(":alert", delivery.alert).bind(":sink", sink).run()
                } else {
                    try connection.statement(AlertStore.replaceDelivery)
                        .bind(":alert", delivery.alert).bind(":sink", sink)
                        .bind(":severity", Int64(delivery.severity.rawValue))
                        .bind(":members", Int64(delivery.memberCount)).run()
                }
            }
        }
    }

    private static let selectDeliveries: StaticString =
        "SELECT alert_id, severity, members FROM alert_delivery WHERE sink = :sink ORDER BY alert_id"
    private static let replaceDelivery: StaticString = """
        INSERT INTO alert_delivery (alert_id, sink, severity, members)
        VALUES (:alert, :sink, :severity, :members)
        ON CONFLICT (alert_id, sink) DO UPDATE SET severity = excluded.severity, members = excluded.members
        """
    private static let deleteDelivery: StaticString =
        "DELETE FROM alert_delivery WHERE alert_id = :alert AND sink = :sink"
}

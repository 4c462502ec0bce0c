import HeadroomModel

/// The tables that name tenants in full: what people said and bought.
extension TenantErasure {
    /// True when there was something.
    func eraseSmallRows(of tenant: TenantID) throws(StorageError) -> Bool {
        var isKnown = false
        for sql in TenantErasure.deletes {
            try connection.statement(sql).bind(":tenant", tenant.text).run()
            if connection.changedRows > 0 { isKnown = true }
        }
        // A token that loses its only tenant would see them all: it keeps a name that nobody has.
        try connection.statement(TenantErasure.deleteSecondScope).bind(":tenant", tenant.text).run()
        try connection.statement(TenantErasure.renameScope).bind(":tenant", tenant.text).run()
        try eraseChanges(of: tenant)
        return isKnown
    }

    /// Erases the statements on this tenant in proposals about several.
    private func eraseChanges(of tenant: TenantID) throws(StorageError) {
        let table = ProposalTable(connection: connection)
        for var proposal in try table.mentioning(tenant) {
            proposal.movers -= proposal.changes.prefix(proposal.movers).count { $0.tenant == tenant }
            proposal.changes.removeAll { $0.tenant == tenant }
            proposal.effects.removeAll { $0.tenant == tenant }
            proposal.evidence.removeAll { $0.contains(tenant.text) }
            for place in proposal.revisions.indices {
                let count = proposal.revisions[place].notes.count
                proposal.revisions[place].notes.removeAll {
                    $0.tenant == tenant || $0.sentence.contains(tenant.text)
                }
                proposal.revisions[place].unnamedCount += count - proposal.revisions[place].notes.count
            }
            try table.write(body: ProposalBody.encode(proposal), of: proposal.id)
        }
    }

    private static let deletes: [StaticString] = [
        "DELETE FROM contract WHERE tenant = :tenant", "DELETE FROM override WHERE tenant = :tenant",
        "DELETE FROM proposal WHERE tenant = :tenant", "DELETE FROM tenant_use WHERE tenant = :tenant",
        "DELETE FROM alert_member WHERE tenant = :tenant", "DELETE FROM cost_lift WHERE tenant = :tenant",
        "DELETE FROM task_ruling WHERE tenant = :tenant",
    ]
    /// Of a token that was limited to another tenant that was erased.
    private static let deleteSecondScope: StaticString = """
        DELETE FROM api_token_scope WHERE kind = 'tenant' AND name = :tenant AND api_token_id IN (
            SELECT api_token_id FROM api_token_scope WHERE kind = 'tenant' AND name = '(erased)')
        """
    private static let renameScope: StaticString =
        "UPDATE api_token_scope SET name = '(erased)' WHERE kind = 'tenant' AND name = :tenant"
}

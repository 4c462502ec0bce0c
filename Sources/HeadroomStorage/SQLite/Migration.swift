/// One file of `migrations/`, built into the program.
package struct Migration: Sendable {
    /// From the file's name, `NNNN_verb_object.sql`.
    package let number: Int64
    package let fileName: String
    package let sql: [UInt8]

    package init(fileName: String, sql: [UInt8]) {
        guard let number = Int64(fileName.prefix(4)), fileName.dropFirst(4).first == "_", fileName.hasSuffix(".sql")
        else { preconditionFailure("not a migration's name: \(fileName)") }
        self.number = number
        self.fileName = fileName
        self.sql = sql
    }

    package var checksum: String { SHA256.hexadecimalDigest(of: sql) }

    /// Every migration, ascending. A new file also needs its line in Package.swift; its constant has the file's name
    /// with `_` for the first digit.
    package static let all = [
        Migration(fileName: "0001_create_telemetry.sql", sql: PackageResources._001_create_telemetry_sql),
        Migration(fileName: "0002_create_deduplication.sql", sql: PackageResources._002_create_deduplication_sql),
        Migration(fileName: "0003_create_contract.sql", sql: PackageResources._003_create_contract_sql),
        Migration(fileName: "0004_create_api_token.sql", sql: PackageResources._004_create_api_token_sql),
        Migration(fileName: "0005_create_snapshot.sql", sql: PackageResources._005_create_snapshot_sql),
        Migration(fileName: "0006_create_sent_budget.sql", sql: PackageResources._006_create_sent_budget_sql),
        Migration(fileName: "0007_create_audit.sql", sql: PackageResources._007_create_audit_sql),
        Migration(fileName: "0008_create_steering.sql", sql: PackageResources._008_create_steering_sql),
        Migration(fileName: "0009_create_decision_record.sql", sql: PackageResources._009_create_decision_record_sql),
        Migration(fileName: "0010_create_rollup.sql", sql: PackageResources._010_create_rollup_sql),
        Migration(fileName: "0011_create_erasure.sql", sql: PackageResources._011_create_erasure_sql),
        Migration(fileName: "0012_create_erased_tenant.sql", sql: PackageResources._012_create_erased_tenant_sql),
        Migration(fileName: "0013_create_contract_cost.sql", sql: PackageResources._013_create_contract_cost_sql),
        Migration(fileName: "0014_create_audit_head.sql", sql: PackageResources._014_create_audit_head_sql),
        Migration(fileName: "0015_add_batch_digest.sql", sql: PackageResources._015_add_batch_digest_sql),
        Migration(fileName: "0016_create_clock_mark.sql", sql: PackageResources._016_create_clock_mark_sql),
        Migration(fileName: "0017_set_application_id.sql", sql: PackageResources._017_set_application_id_sql),
        Migration(fileName: "0018_create_pool_history.sql", sql: PackageResources._018_create_pool_history_sql),
        Migration(fileName: "0019_create_alert.sql", sql: PackageResources._019_create_alert_sql),
        Migration(fileName: "0020_add_checkpoint_floats.sql", sql: PackageResources._020_add_checkpoint_floats_sql),
        Migration(fileName: "0021_add_service_levels.sql", sql: PackageResources._021_add_service_levels_sql),
        Migration(fileName: "0022_create_use_sum.sql", sql: PackageResources._022_create_use_sum_sql),
        Migration(fileName: "0023_add_audit_head_mac.sql", sql: PackageResources._023_add_audit_head_mac_sql),
        Migration(fileName: "0024_add_cost_breaker.sql", sql: PackageResources._024_add_cost_breaker_sql),
        Migration(fileName: "0025_expire_single_proposals.sql", sql: PackageResources._025_expire_single_proposals_sql),
        Migration(fileName: "0026_add_cached_input_price.sql", sql: PackageResources._026_add_cached_input_price_sql),
        Migration(fileName: "0027_add_token_maker.sql", sql: PackageResources._027_add_token_maker_sql),
        Migration(fileName: "0028_create_alert_delivery.sql", sql: PackageResources._028_create_alert_delivery_sql),
        Migration(fileName: "0029_create_task_ruling.sql", sql: PackageResources._029_create_task_ruling_sql),
        Migration(fileName: "0030_add_alert_outcome.sql", sql: PackageResources._030_add_alert_outcome_sql),
        Migration(fileName: "0031_count_asked_work.sql", sql: PackageResources._031_count_asked_work_sql),
        Migration(fileName: "0032_create_task_time.sql", sql: PackageResources._032_create_task_time_sql),
    ]
}

import HeadroomModel

/// All that one look at the service sees: what the loop reports, and what stands beside the loop.
package struct AlertObservation: Sendable {
    package struct Gateway: Sendable {
        package var presence: GatewayPresence
        /// For how long it has been behind.
        package var driftSeconds: Double

        package init(presence: GatewayPresence, driftSeconds: Double) {
            self.presence = presence
            self.driftSeconds = driftSeconds
        }
    }

    /// A name that telemetry or an override bears, and that nothing else knows.
    package struct UnknownName: Sendable {
        package var name: String
        /// Where it is a tenant.
        package var tenant: TenantID?
        package var since: Timestamp
        /// Where it stands, and which one was probably meant.
        package var sentence: String

        package init(name: String, tenant: TenantID? = nil, since: Timestamp, sentence: String) {
            self.name = name
            self.tenant = tenant
            self.since = since
            self.sentence = sentence
        }
    }

    package struct Disk: Sendable {
        package var freeBytes: Double
        package var totalBytes: Double

        package init(freeBytes: Double, totalBytes: Double) {
            self.freeBytes = freeBytes
            self.totalBytes = totalBytes
        }
    }

    /// Something beside the loop that is not as it should be.
    package struct Trouble: Sendable {
        /// One word: `clock`, `database_files`, a webhook's name.
        package var name: String
        package var sentence: String
        package var isFatal: Bool

        package init(name: String, sentence: String, isFatal: Bool = false) {
            self.name = name
            self.sentence = sentence
            self.isFatal = isFatal
        }
    }

    package var at: Timestamp
    /// The policy with its thresholds, contracts, and what people have set.
    package var rules: Rules
    /// The loop's newest report; `nil` before its first.
    package var report: LoopReport?
    package var gateways: [Gateway]
    /// The delays of the loop, in sentences.
    package var delays: [String]
    package var unknownNames: [UnknownName]
    /// Of the service: its files, its clock, its storage.
    package var troubles: [Trouble]
    /// Webhooks that do not take what they are sent.
    package var failingSinks: [Trouble]
    /// Of the database; `nil` where it is not known.
    package var disk: Disk?
    /// The end of the certificate that is served; `nil` without TLS.
    package var certificateEnds: Timestamp?
    package var levels = LevelRecords()
    /// Tries an override before it is proposed.
    package var preview: OverridePreviewing

    package init(
        at: Timestamp, rules: Rules, report: LoopReport? = nil, gateways: [Gateway] = [], delays: [String] = [],
        unknownNames: [UnknownName] = [], troubles: [Trouble] = [], failingSinks: [Trouble] = [], disk: Disk? = nil,
        certificateEnds: Timestamp? = nil, preview: @escaping OverridePreviewing
    ) {
        self.at = at
        self.rules = rules
        self.report = report
        self.gateways = gateways
        self.delays = delays
        self.unknownNames = unknownNames
        self.troubles = troubles
        self.failingSinks = failingSinks
        self.disk = disk
        self.certificateEnds = certificateEnds
        self.preview = preview
    }

    var policy: AlertPolicy { rules.policy.alerts }
}

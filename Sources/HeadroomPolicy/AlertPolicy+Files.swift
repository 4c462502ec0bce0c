import HeadroomJSON
import HeadroomModel

// The webhooks of a policy: read from files and written as files would state them.

extension AlertPolicy {
    mutating func read(_ root: CheckedObject) {
        var section = root
        if let sinks = section.list("sinks", count: 0...32, of: "webhooks") {
            self.sinks = sinks.map { AlertSinkPolicy($0.node, key: $0.key, file: section.file) }
        }
        if let ranges = section.ranges("forbidden_addresses") { addresses.forbidden = ranges }
        if let ranges = section.ranges("allowed_addresses") { addresses.allowed = ranges }
        section.read(AlertPolicy.fields, into: &self)
    }
}

extension CheckedObject {
    fileprivate mutating func ranges(_ name: String) -> [AddressRange]? {
        list(name, count: 0...256, of: "address ranges")?.compactMap { element in
            text(
                element.node, key: element.key, "an address or a range, as 10.0.0.0/8, 169.254.169.254 or fe80::/10",
                isRight: { AddressRange($0) != nil }
            ).flatMap(AddressRange.init)
        }
    }
}

extension AlertSinkPolicy {
    /// A text that Foundation would read as another URL than it looks like is no URL here.
    fileprivate static func isURL(_ text: String) -> Bool {
        guard let scheme = ["https://", "http://"].first(where: text.hasPrefix) else { return false }
        let rest = text.dropFirst(scheme.count)
        let host = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        return !host.isEmpty && !host.contains("@") && !host.contains("{")
            && text.unicodeScalars.allSatisfy { $0.isASCII && $0.value > 0x20 && $0.value != 0x7F }
    }

    fileprivate init(_ node: JSONNode, key: String, file: CheckedFile) {
        self.init(name: "", format: .json, url: "")
        guard var section = CheckedObject(node, key: key, file: file) else { return }
        section.require("name", "the webhook's name, for alerts and metrics")
        section.require("url", "where to send to, as https://hooks.example.com/headroom")
        if let name = section.word("name") { self.name = name }
        if let format = section.choice("format", of: Format.allCases, named: \.rawValue) { self.format = format }
        if let url = section.text("url", "an http or https URL without a user name in it", isRight: Self.isURL) {
            self.url = url
        }
        secretFile = section.text("secret_file", "the name of a file", isRight: { !$0.isEmpty && !$0.contains("\0") })
        if let kinds = section.list("kinds", count: 1...AlertKind.allCases.count, of: "kinds of alerts") {
            self.kinds = Set(
                kinds.compactMap { section.choice($0.node, key: $0.key, of: AlertKind.allCases, named: \.rawValue) })
        }
        if let severity = section.choice("least_severity", of: AlertSeverity.allCases, named: \.name) {
            leastSeverity = severity
        }
        // An alert of these two says that something is wrong until it is over; a head never is.
        let hasHeads = format == .json || format == .slack
        takesAuditHead = section.bool("audit_head") ?? (format == .json)
        if takesAuditHead, !hasHeads {
            section.file.report(
                .conflict, key: KeyPathText.join(key, "audit_head"), atFirstOf: [KeyPathText.join(key, "audit_head")],
                "must be false for the format \(format.rawValue): json and slack can be told the head of the audit log")
        }
        if url.contains("{secret}") || format == .pagerduty {
            section.require(
                "secret_file", "the file with the secret that this format, or {secret} in the url, stands for")
        }
        section.end()
    }
}

extension JSONWriter {
    mutating func alerts(_ policy: AlertPolicy) {
        key("alerts")
        beginObject()
        for field in AlertPolicy.fields {
            key(field.key)
            number(field.get(policy))
        }
        field("sinks", each: policy.sinks) { $0.sink($1) }
        field("forbidden_addresses", policy.addresses.forbidden.map(\.text))
        field("allowed_addresses", policy.addresses.allowed.map(\.text))
        endObject()
    }

    private mutating func sink(_ sink: AlertSinkPolicy) {
        beginObject()
        field("name", sink.name)
        field("format", sink.format.rawValue)
        field("url", sink.url)
        if let file = sink.secretFile { field("secret_file", file) }
        if let kinds = sink.kinds { field("kinds", AlertKind.allCases.filter(kinds.contains).map(\.rawValue)) }
        field("least_severity", sink.leastSeverity.name)
        field("audit_head", sink.takesAuditHead)
        endObject()
    }
}

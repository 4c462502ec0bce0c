/// A webhook that gets alerts.
public struct AlertSinkPolicy: Equatable, Sendable {
    /// What the receiver understands.
    public enum Format: String, CaseIterable, Sendable, Hashable {
        /// Headroom's own: the alert as `GET /v1/alerts` has it.
        case json
        /// A Slack-compatible incoming webhook.
        case slack
        /// Alertmanager's API v2.
        case alertmanager
        /// PagerDuty's Events API v2.
        case pagerduty
    }

    public var name: String
    public var format: Format
    /// `http` or `https`; `{secret}` in it stands for the secret, where the address itself is one.
    public var url: String
    /// A file with the secret in its first line, in the policy directory or by its whole path. It signs what is sent, or is
    /// PagerDuty's routing key, or a part of the URL. `nil`: nothing is signed.
    public var secretFile: String?
    /// `nil`: all.
    public var kinds: Set<AlertKind>?
    public var leastSeverity: AlertSeverity
    /// It also gets the head of the audit log, once an hour; ``Format/json`` and ``Format/slack`` only.
    public var takesAuditHead: Bool

    /// - Parameter takesAuditHead: by default true for ``Format/json``.
    public init(
        name: String, format: Format, url: String, secretFile: String? = nil, kinds: Set<AlertKind>? = nil,
        leastSeverity: AlertSeverity = .info, takesAuditHead: Bool? = nil
    ) {
        self.name = name
        self.format = format
        self.url = url
        self.secretFile = secretFile
        self.kinds = kinds
        self.leastSeverity = leastSeverity
        self.takesAuditHead = takesAuditHead ?? (format == .json)
    }

    /// Whether it gets such an alert.
    package func wants(_ alert: Alert) -> Bool {
        (kinds?.contains(alert.key.kind) ?? true) && alert.severity >= leastSeverity
    }
}

/// Where webhooks may be sent to, after the name was resolved.
public struct AddressRules: Equatable, Sendable {
    public var forbidden: [AddressRange]
    /// Empty: all that are not forbidden.
    public var allowed: [AddressRange]

    public init(forbidden: [AddressRange] = AddressRange.metadata, allowed: [AddressRange] = []) {
        self.forbidden = forbidden
        self.allowed = allowed
    }

    /// An address that another one stands in leads to that one too: neither may be forbidden, and an allowed one allows
    /// what it stands in.
    public func allow(_ address: AddressRange) -> Bool {
        let inner = address.embedded
        func isAllowed(_ address: AddressRange) -> Bool { allowed.contains { $0.contains(address) } }
        guard !forbidden.contains(where: { range in ([address] + inner).contains(where: range.contains) }) else {
            return false
        }
        return allowed.isEmpty || isAllowed(address) || (!inner.isEmpty && inner.allSatisfy(isAllowed))
    }
}

/// Some IP addresses with a common prefix, as `169.254.0.0/16` or `fe80::/10`; one address is a range of its own.
public struct AddressRange: Equatable, Sendable {
    /// As it was written.
    public let text: String
    /// 16 bytes; an IPv4 address is the IPv6 address that stands for it (::ffff:a.b.c.d), so that both forms are one.
    private let bytes: [UInt8]
    /// Bits of ``bytes`` that count.
    private let prefix: Int

    /// Those at which cloud machines tell their own credentials, and other link-local ones: AWS (also of a pod), Google,
    /// Azure, Oracle, Alibaba.
    public static let metadata = [
        "169.254.0.0/16", "fe80::/10", "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254", "168.63.129.16", "192.0.0.192",
        "fd00:c1::a9fe:a9fe", "100.100.100.200",
    ].compactMap(AddressRange.init)

    /// `nil` for what is neither an address nor a range.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let bytes = AddressRange.version4(parts[0]) ?? AddressRange.version6(parts[0]) else { return nil }
        let isVersion4 = !parts[0].contains(":")
        var prefix = 128
        if parts.count == 2 {
            let most = isVersion4 ? 32 : 128
            guard let length = Int(parts[1]), (0...most).contains(length), !parts[1].hasPrefix("+") else { return nil }
            prefix = isVersion4 ? 96 + length : length
        }
        self.text = text
        self.bytes = bytes
        self.prefix = prefix
    }

    public func contains(_ other: AddressRange) -> Bool {
        guard other.prefix >= prefix else { return false }
        let whole = prefix / 8
        guard bytes[..<whole] == other.bytes[..<whole] else { return false }
        let rest = prefix % 8
        return rest == 0 || (bytes[whole] ^ other.bytes[whole]) >> (8 - UInt8(rest)) == 0
    }

    /// The IPv4 addresses that this IPv6 address stands for, or may stand for, on the way through a translator or a tunnel;
    /// and, for the unspecified address, the machine itself, to which Linux connects then.
    package var embedded: [AddressRange] {
        guard prefix == 128 else { return [] }
        func inner(_ places: [Int], invertedBy mask: UInt8 = 0) -> [AddressRange] {
            [AddressRange(version4: places.map { bytes[$0] ^ mask })]
        }
        let first = (0..<4).map { UInt16(bytes[2 * $0]) << 8 | UInt16(bytes[2 * $0 + 1]) }
        let last = [12, 13, 14, 15]
        if bytes.allSatisfy({ $0 == 0 }) { return ["::1", "127.0.0.1"].compactMap(AddressRange.init) }
        if bytes[..<12].allSatisfy({ $0 == 0 }) {
            // IPv4-compatible (RFC 4291, section 2.5.5.1).
            return inner(last)
        }
        if bytes[..<12] == AddressRange.mapped[...] {
            // An IPv4 address itself.
            return bytes[12...].allSatisfy { $0 == 0 } ? ["127.0.0.1"].compactMap(AddressRange.init) : []
        }
        if bytes[..<12] == [0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0, 0] {
            // IPv4-translated (RFC 2765).
            return inner(last)
        }
        switch (first[0], first[1], first[2]) {
        case (0x64, 0xFF9B, 0) where bytes[6..<12].allSatisfy { $0 == 0 }:
            // NAT64's well-known prefix (RFC 6052).
            return inner(last)
        case (0x64, 0xFF9B, 1):
            // NAT64 of a network's own (RFC 8215): its prefix may have 48, 56, 64 or 96 bits, and byte 8 never counts.
            return [[6, 7, 9, 10], [7, 9, 10, 11], [9, 10, 11, 12], last].flatMap { inner($0) }
        case (0x2002, _, _):
            // 6to4 (RFC 3056).
            return inner([2, 3, 4, 5])
        case (0x2001, 0, _):
            // Teredo (RFC 4380): the server, and the client with its bits turned round.
            return inner([4, 5, 6, 7]) + inner(last, invertedBy: 0xFF)
        default:
            // ISATAP (RFC 5214), with any prefix.
            let isTunnel = bytes[8] & 0xFD == 0 && bytes[9..<12] == [0, 0x5E, 0xFE]
            return isTunnel ? inner(last) : []
        }
    }

    private static let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]

    private init(version4 address: [UInt8]) {
        text = address.map(String.init).joined(separator: ".")
        bytes = AddressRange.mapped + address
        prefix = 128
    }

    private static func version4(_ text: Substring) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { $0.allSatisfy(\.isNumber) ? UInt8($0) : nil }
        guard parts.count == 4, numbers.count == 4 else { return nil }
        return mapped + numbers
    }

    private static func version6(_ text: Substring) -> [UInt8]? {
        // A zone (fe80::1%eth0) names an interface, not another address.
        let address = text.prefix { $0 != "%" }
        let hasLooseColon =
            address.contains(":::") || address.hasPrefix(":") && !address.hasPrefix("::")
            || address.hasSuffix(":") && !address.hasSuffix("::")
        let halves = address.replacing("::", with: ":*:").split(separator: ":")
        guard address.contains(":"), !hasLooseColon, halves.count(where: { $0 == "*" }) <= 1 else { return nil }
        var before: [UInt8] = []
        var after: [UInt8]?
        for (place, part) in halves.enumerated() {
            var group: [UInt8] = []
            if part == "*" {
                after = []
                continue
            } else if part.contains("."), place == halves.count - 1 {
                guard let mapped = version4(part) else { return nil }
                group = Array(mapped.suffix(4))
            } else {
                guard part.count <= 4, let number = UInt16(part, radix: 16) else { return nil }
                group = [UInt8(number >> 8), UInt8(number & 255)]
            }
            if after == nil { before += group } else { after? += group }
        }
        let count = before.count + (after?.count ?? 0)
        guard after == nil ? count == 16 : count <= 14 else { return nil }
        return before + [UInt8](repeating: 0, count: 16 - count) + (after ?? [])
    }
}

import HeadroomModel

/// Prometheus' text format, version 0.0.4: families one after the other, each with its help and type once.
package struct MetricsText {
    package private(set) var text = ""
    private var family = ""

    package enum Kind: String { case counter, gauge, histogram, summary }

    static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    package init() {}

    /// Starts a family; its samples follow.
    package mutating func family(_ name: String, _ kind: Kind, _ help: String) {
        family = name
        text += "# HELP \(name) \(Self.escape(help, quotes: false))\n# TYPE \(name) \(kind.rawValue)\n"
    }

    /// Not finite values are left out: they would say nothing.
    package mutating func sample(_ value: Double, _ labels: KeyValuePairs<String, String> = [:]) {
        guard value.isFinite else { return }
        append(suffix: "", labels.map { ($0.key, $0.value) }, Self.shortest(value))
    }

    package mutating func sample(_ value: Int, _ labels: KeyValuePairs<String, String> = [:]) {
        append(suffix: "", labels.map { ($0.key, $0.value) }, String(value))
    }

    package mutating func histogram(_ histogram: Histogram, _ labels: KeyValuePairs<String, String> = [:]) {
        let labels = labels.map { ($0.key, $0.value) }
        var cumulative = 0
        for (bound, count) in zip(histogram.bounds, histogram.counts) {
            cumulative += count
            append(suffix: "_bucket", labels + [("le", Self.shortest(bound))], String(cumulative))
        }
        append(suffix: "_bucket", labels + [("le", "+Inf")], String(histogram.count))
        append(suffix: "_sum", labels, Self.shortest(histogram.sum))
        append(suffix: "_count", labels, String(histogram.count))
    }

    private mutating func append(suffix: String, _ labels: [(String, String)], _ value: String) {
        text += family + suffix
        if !labels.isEmpty {
            text += "{" + labels.map { "\($0)=\"\(Self.escape($1, quotes: true))\"" }.joined(separator: ",") + "}"
        }
        text += " \(value)\n"
    }

    private static func shortest(_ value: Double) -> String {
        Int64(exactly: value).map(String.init) ?? String(value)
    }

    private static func escape(_ text: String, quotes: Bool) -> String {
        var escaped = ""
        for character in text.unicodeScalars {
            switch character {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case "\"" where quotes: escaped += "\\\""
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }
}

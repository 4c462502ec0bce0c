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
        var cumulative = 0
        let bounds = zip(histogram.bounds, histogram.counts).map { bound, count in
            cumulative += count
            return (bound, cumulative)
        }
        self.histogram(bounds: bounds, count: histogram.count, sum: histogram.sum, labels)
    }

    /// - Parameter bounds: ascending, each with the count of what does not exceed it.
    mutating func histogram(
        bounds: [(Double, Int)], count: Int, sum: Double, _ labels: KeyValuePairs<String, String>
    ) {
        let labels = labels.map { ($0.key, $0.value) }
        for (bound, count) in bounds {
            append(suffix: "_bucket", labels + [("le", Self.shortest(bound))], String(count))
        }
        append(suffix: "_bucket", labels + [("le", "+Inf")], String(count))
        append(suffix: "_sum", labels, Self.shortest(sum))
        append(suffix: "_count", labels, String(count))
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

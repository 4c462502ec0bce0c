/// Samples of Prometheus text, as Headroom's own `/metrics` writes it: for `headroom status`.
struct MetricsReading {
    struct Sample {
        let name: String
        let labels: [String: String]
        let value: Double
    }

    let samples: [Sample]

    /// Lines that are no samples are left out.
    init(_ text: String) {
        samples = text.split(whereSeparator: \.isNewline).compactMap(MetricsReading.sample)
    }

    /// Those of one name, in the order of the text.
    func all(_ name: String) -> [Sample] { samples.filter { $0.name == name } }

    private static func sample(_ line: Substring) -> Sample? {
        guard !line.hasPrefix("#") else { return nil }
        var rest = line
        let name = rest.prefix { $0 != "{" && $0 != " " }
        rest.removeFirst(name.count)
        var labels: [String: String] = [:]
        if rest.first == "{" {
            rest.removeFirst()
            while let first = rest.first, first != "}" {
                if first == "," { rest.removeFirst() }
                let key = rest.prefix { $0 != "=" }
                rest.removeFirst(key.count)
                guard rest.hasPrefix("=\"") else { return nil }
                rest.removeFirst(2)
                guard let value = quoted(&rest) else { return nil }
                labels[String(key)] = value
            }
            guard !rest.isEmpty else { return nil }
            rest.removeFirst()
        }
        guard let text = rest.split(separator: " ").first, let value = Double(text) else { return nil }
        return Sample(name: String(name), labels: labels, value: value)
    }

    /// Up to the closing quote, which is taken too; `\\`, `\"` and `\n` are the escapes that there are.
    private static func quoted(_ rest: inout Substring) -> String? {
        var value = ""
        while let character = rest.popFirst() {
            if character == "\"" { return value }
            guard character == "\\" else {
                value.append(character)
                continue
            }
            guard let escaped = rest.popFirst() else { return nil }
            value.append(escaped == "n" ? "\n" : escaped)
        }
        return nil
    }
}

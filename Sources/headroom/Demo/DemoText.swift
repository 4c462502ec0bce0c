/// Numbers as a person reads them on one line.
enum DemoText {
    /// One digit behind the point.
    static func decimal(_ value: Double) -> String {
        let tenths = (value * 10).rounded()
        return tenths == (value.rounded() * 10) ? String(Int(value.rounded())) : String(tenths / 10)
    }

    static func percent(_ part: Double) -> String { decimal(100 * part) + " %" }

    static func left(_ text: String, _ width: Int) -> String {
        text.count > width
            ? text.prefix(width - 1) + "…" : text + String(repeating: " ", count: width - text.count)
    }

    static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}

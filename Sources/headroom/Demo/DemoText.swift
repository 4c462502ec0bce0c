/// Numbers as a person reads them on one line.
enum DemoText {
    /// One digit behind the point.
    static func decimal(_ value: Double) -> String {
        let tenths = (value * 10).rounded()
        return tenths == (value.rounded() * 10) ? String(Int(value.rounded())) : String(tenths / 10)
    }

    /// `41 s`, `8 min`, `2 min 20 s`; of something that has not ended, `over 3 min`.
    static func time(_ seconds: Double, isOpen: Bool) -> String {
        let whole = Int(seconds.rounded())
        let text =
            whole < 120
            ? "\(whole) s"
            : isOpen || whole % 60 == 0 || whole >= 600
                ? "\(whole / 60) min" : "\(whole / 60) min \(whole % 60) s"
        return isOpen ? "over \(text)" : text
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

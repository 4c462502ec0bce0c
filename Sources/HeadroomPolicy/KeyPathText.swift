/// The path to a value as people read it: `bands[2].tiers[0]`.
enum KeyPathText {
    static func join(_ path: String, _ key: String) -> String {
        let isPlain = !key.isEmpty && key.utf8.count <= 64 && key.utf8.allSatisfy(isPlain)
        guard isPlain else { return path + "[\(excerpt(of: key))]" }
        return path.isEmpty ? key : "\(path).\(key)"
    }

    /// In quotes, shortened, control characters escaped: what people wrote must not move their terminal's cursor.
    static func excerpt(of text: String) -> String {
        let start = text.prefix(60)
        return String(start).debugDescription + (start.endIndex == text.endIndex ? "" : "…")
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}

/// The rows of a CSV text by RFC 4180, one at a time: quotes, doubled quotes, line breaks inside quotes, LF or CRLF. Fields
/// may also stand between semicolons or tabs, as spreadsheets write them.
struct CSVReader {
    struct Row {
        /// Where it starts, from 1.
        let line: Int
        /// Without their quotes; spaces around a field that has none are cut off.
        let fields: [String]
        /// The breach of the grammar, and what would be right.
        let fault: String?
    }

    private let bytes: [UInt8]
    /// Between fields: the comma, the semicolon or the tab, whichever the first line has most of.
    let separator: UInt8
    private var offset: Int
    private var line = 1

    init(_ bytes: [UInt8], from offset: Int = 0) {
        self.bytes = bytes
        self.offset = offset
        separator = CSVReader.separator(of: bytes[offset...])
    }

    private static func separator(of bytes: ArraySlice<UInt8>) -> UInt8 {
        var counts: [UInt8: Int] = [:]
        var isQuoted = false
        for byte in bytes.drop(while: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) {
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            if isQuoted { continue }
            if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") { break }
            counts[byte, default: 0] += 1
        }
        // The comma where two are as frequent, or none is there.
        var best = UInt8(ascii: ",")
        for other in [UInt8(ascii: ";"), UInt8(ascii: "\t")] where counts[other] ?? 0 > counts[best] ?? 0 {
            best = other
        }
        return best
    }

    /// The next row that is not blank; `nil` at the end.
    mutating func next() -> Row? {
        while offset < bytes.count {
            let row = row()
            let isBlank = row.fault == nil && row.fields == [""]
            if !isBlank { return row }
        }
        return nil
    }

    private mutating func row() -> Row {
        let start = line
        var fields: [String] = []
        var fault: String?
        repeat {
            fields.append(field(&fault))
        } while takeSeparator()
        takeLineBreak()
        return Row(line: start, fields: fields, fault: fault)
    }

    private mutating func field(_ fault: inout String?) -> String {
        if offset < bytes.count, bytes[offset] == UInt8(ascii: "\"") { return quotedField(&fault) }
        let start = offset
        while offset < bytes.count, !isEndOfField(bytes[offset]) {
            if bytes[offset] == UInt8(ascii: "\"") {
                fault = fault ?? "a quote inside a field: put the whole field in quotes and double the quote"
            }
            offset += 1
        }
        var field = bytes[start..<offset]
        while let last = field.last, last == UInt8(ascii: " ") || last == UInt8(ascii: "\t") { field.removeLast() }
        while let first = field.first, first == UInt8(ascii: " ") || first == UInt8(ascii: "\t") { field.removeFirst() }
        return String(decoding: field, as: UTF8.self)
    }

    private mutating func quotedField(_ fault: inout String?) -> String {
        let start = line
        var text: [UInt8] = []
        offset += 1
        while true {
            guard offset < bytes.count else {
                fault = "the quote that opens on line \(start) is not closed"
                break
            }
            let byte = bytes[offset]
            offset += 1
            if byte == UInt8(ascii: "\"") {
                guard offset < bytes.count, bytes[offset] == byte else { break }
                offset += 1
            }
            if byte == UInt8(ascii: "\n") { line += 1 }
            text.append(byte)
        }
        if offset < bytes.count, !isEndOfField(bytes[offset]) {
            fault = fault ?? "text behind a closing quote: the separator or the end of the line must follow"
            while offset < bytes.count, !isEndOfField(bytes[offset]) { offset += 1 }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private mutating func takeSeparator() -> Bool {
        guard offset < bytes.count, bytes[offset] == separator else { return false }
        offset += 1
        return true
    }

    private mutating func takeLineBreak() {
        if offset < bytes.count, bytes[offset] == UInt8(ascii: "\r") { offset += 1 }
        if offset < bytes.count, bytes[offset] == UInt8(ascii: "\n") { offset += 1 }
        line += 1
    }

    private func isEndOfField(_ byte: UInt8) -> Bool {
        byte == separator || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
    }
}

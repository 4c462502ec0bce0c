/// The rows of a CSV text by RFC 4180, one at a time: quotes, doubled quotes, line breaks inside quotes, LF or CRLF.
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
    private var offset: Int
    private var line = 1

    init(_ bytes: [UInt8], from offset: Int = 0) {
        self.bytes = bytes
        self.offset = offset
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
        } while takeComma()
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
            fault = fault ?? "text behind a closing quote: a comma or the end of the line must follow"
            while offset < bytes.count, !isEndOfField(bytes[offset]) { offset += 1 }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private mutating func takeComma() -> Bool {
        guard offset < bytes.count, bytes[offset] == UInt8(ascii: ",") else { return false }
        offset += 1
        return true
    }

    private mutating func takeLineBreak() {
        if offset < bytes.count, bytes[offset] == UInt8(ascii: "\r") { offset += 1 }
        if offset < bytes.count, bytes[offset] == UInt8(ascii: "\n") { offset += 1 }
        line += 1
    }

    private func isEndOfField(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
    }
}

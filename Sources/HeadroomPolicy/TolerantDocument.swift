import HeadroomJSON

/// A JSON5 document that people wrote, read to its end in spite of repeated keys and numbers that are not finite, so
/// that all its faults can be named at once. What breaks the grammar ends the reading.
struct TolerantDocument {
    /// The first of repeated keys counts; a refused number stands as 0.
    let root: JSONNode
    /// Second and further occurrences, in the order of the document.
    let repeatedKeys: [(path: String, offset: Int)]
    /// By the offset of the number: why.
    let refusedNumbers: [Int: String]

    /// Each refused number costs one more pass over the document.
    private static let maxRefusals = 100

    init(parsing bytes: [UInt8]) throws(JSONError) {
        var bytes = bytes
        var refused: [Int: String] = [:]
        while true {
            do throws(JSONError) {
                var reader = JSONReader(bytes, dialect: .json5)
                var repeated: [(path: String, offset: Int)] = []
                let root = try TolerantDocument.node(from: &reader, path: "", repeatedKeys: &repeated)
                try reader.endDocument()
                self.init(root: root, repeatedKeys: repeated, refusedNumbers: refused)
                return
            } catch {
                guard error.code == .notFinite, refused.count < TolerantDocument.maxRefusals else { throw error }
                refused[TolerantDocument.mask(numberAt: error.offset, in: &bytes)] = error.message
            }
        }
    }

    private init(root: JSONNode, repeatedKeys: [(path: String, offset: Int)], refusedNumbers: [Int: String]) {
        self.root = root
        self.repeatedKeys = repeatedKeys
        self.refusedNumbers = refusedNumbers
    }

    /// The reader's next value; keys that an object has twice are noted and left out.
    static func node(
        from reader: inout JSONReader, path: String, repeatedKeys: inout [(path: String, offset: Int)]
    ) throws(JSONError) -> JSONNode {
        switch try reader.peek() {
        case .array:
            let offset = reader.offset
            var elements: [JSONNode] = []
            try reader.beginArray()
            while try reader.nextElement() {
                let path = "\(path)[\(elements.count)]"
                elements.append(try node(from: &reader, path: path, repeatedKeys: &repeatedKeys))
            }
            return JSONNode(.array(elements), offset: offset)
        case .object:
            let offset = reader.offset
            var members: [JSONMember] = []
            var keys: Set<String> = []
            try reader.beginObject()
            while let text = try reader.nextKey() {
                let key = reader.string(of: text)
                let keyOffset = text.isQuoted ? text.offset - 1 : text.offset
                let path = KeyPathText.join(path, key)
                let isNew = keys.insert(key).inserted
                if !isNew { repeatedKeys.append((path, keyOffset)) }
                let value = try node(from: &reader, path: path, repeatedKeys: &repeatedKeys)
                if isNew { members.append(JSONMember(key: key, keyOffset: keyOffset, value: value)) }
            }
            return JSONNode(.object(members), offset: offset)
        case .null, .bool, .number, .string:
            return try JSONNode(from: &reader)
        }
    }

    /// Writes 0 over the word or number at `offset`; returns where the value starts, its sign included.
    private static func mask(numberAt offset: Int, in bytes: inout [UInt8]) -> Int {
        var end = offset
        while end < bytes.count, isPartOfNumber(bytes[end]) {
            bytes[end] = UInt8(ascii: " ")
            end += 1
        }
        bytes[offset] = UInt8(ascii: "0")
        let isSigned = offset > 0 && (bytes[offset - 1] == UInt8(ascii: "-") || bytes[offset - 1] == UInt8(ascii: "+"))
        return isSigned ? offset - 1 : offset
    }

    private static func isPartOfNumber(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "."), UInt8(ascii: "+"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}

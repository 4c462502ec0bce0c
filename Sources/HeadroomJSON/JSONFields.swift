/// The keys that a hot reader knows, found in one comparison rather than one for each.
///
///     var seen: JSONFields.Seen = 0
///     while let key = try reader.nextKey() {
///         switch try reader.field(key, of: fields, seen: &seen) {
///         case 0: …
///         case nil: try reader.skipValue()
///         }
///     }
package struct JSONFields: Sendable {
    /// Which of the keys have come, one bit each.
    package typealias Seen = UInt64

    private let names: [String]
    /// All names in one row, and where each begins there; one more start stands for the end.
    private let letters: [UInt8]
    private let starts: [Int]
    /// Open addressing by ``slot(count:first:last:)``; the index of a name, -1 for none.
    private let slots: [Int8]

    /// At most 64 names, none empty and none twice. The index of a name is its place in `names`.
    package init(_ names: [String]) {
        precondition(names.count <= 64)
        var letters: [UInt8] = []
        var starts = [0]
        var slots = [Int8](repeating: -1, count: 256)
        for (index, name) in names.enumerated() {
            let text = Array(name.utf8)
            var slot = JSONFields.slot(count: text.count, first: text[0], last: text[text.count - 1])
            while slots[slot] >= 0 { slot = (slot + 1) & 255 }
            slots[slot] = Int8(index)
            letters += text
            starts.append(letters.count)
        }
        self.names = names
        self.letters = letters
        self.starts = starts
        self.slots = slots
    }

    package subscript(index: Int) -> String { names[index] }

    func index(of key: Span<UInt8>) -> Int? {
        guard key.count > 0 else { return nil }
        var slot = JSONFields.slot(count: key.count, first: key[0], last: key[key.count - 1])
        while slots[slot] >= 0 {
            let index = Int(slots[slot])
            let start = starts[index]
            if starts[index + 1] - start == key.count {
                let name = letters.span.extracting(start..<(start + key.count))
                if key.hasSameBytes(as: name) { return index }
            }
            slot = (slot + 1) & 255
        }
        return nil
    }

    private static func slot(count: Int, first: UInt8, last: UInt8) -> Int {
        (count &* 31 &+ Int(first) &* 7 &+ Int(last)) & 255
    }
}

extension JSONReader {
    /// The index of `key` in `fields`, `nil` for a key that is not there.
    package func index(of key: JSONText, in fields: JSONFields) -> Int? {
        if key.isEscaped { return fields.index(of: unescaped(key).span) }
        return fields.index(of: bytes.span.extracting(key.offset..<(key.offset + key.count)))
    }

    /// As ``index(of:in:)``, and an error for a key that has come before. Start an object with `seen` = 0.
    package func field(
        _ key: JSONText, of fields: JSONFields, seen: inout JSONFields.Seen
    ) throws(JSONError) -> Int? {
        guard let index = index(of: key, in: fields) else { return nil }
        guard seen & 1 << UInt64(index) == 0 else {
            throw JSONError(
                .duplicateKey, "the key \"\(fields[index])\" stands twice: remove one", offset: key.offset - 1)
        }
        seen |= 1 << UInt64(index)
        return index
    }
}

/// A value of a document and where it stands in it: for documents that people write, and for provider bodies.
package struct JSONNode: Equatable, Sendable {
    package let value: JSONValue
    /// In bytes, of the value's first byte.
    package let offset: Int

    package init(_ value: JSONValue, offset: Int = 0) {
        self.value = value
        self.offset = offset
    }
}

package enum JSONValue: Equatable, Sendable {
    case null
    case bool(Bool)
    /// Always finite in what was parsed.
    case number(Double)
    case string(String)
    case array([JSONNode])
    /// In the order of the document; no key twice in what was parsed.
    case object([JSONMember])
}

package struct JSONMember: Equatable, Sendable {
    package let key: String
    /// In bytes, of the key's first byte, its quote if it has one.
    package let keyOffset: Int
    package let value: JSONNode

    package init(key: String, keyOffset: Int = 0, value: JSONNode) {
        self.key = key
        self.keyOffset = keyOffset
        self.value = value
    }
}

extension JSONNode {
    /// The whole of `bytes` as one value.
    package static func parse(_ bytes: [UInt8], dialect: JSONDialect = .rfc8259) throws(JSONError) -> JSONNode {
        var reader = JSONReader(bytes, dialect: dialect)
        let node = try JSONNode(from: &reader)
        try reader.endDocument()
        return node
    }

    /// The reader's next value. A key that an object has twice is an error.
    package init(from reader: inout JSONReader) throws(JSONError) {
        let kind = try reader.peek()
        let offset = reader.offset
        switch kind {
        case .null:
            _ = try reader.readNull()
            self.init(.null, offset: offset)
        case .bool: self.init(.bool(try reader.readBool()), offset: offset)
        case .number: self.init(.number(try reader.readDouble()), offset: offset)
        case .string: self.init(.string(try reader.readString()), offset: offset)
        case .array:
            var elements: [JSONNode] = []
            try reader.beginArray()
            while try reader.nextElement() { elements.append(try JSONNode(from: &reader)) }
            self.init(.array(elements), offset: offset)
        case .object: self.init(.object(try JSONNode.members(from: &reader)), offset: offset)
        }
    }

    private static func members(from reader: inout JSONReader) throws(JSONError) -> [JSONMember] {
        var members: [JSONMember] = []
        // Strings compare by canonical equivalence, so "é" written in two ways is one key: nobody could distinguish the two
        // apart.
        var keys: Set<String> = []
        try reader.beginObject()
        while let text = try reader.nextKey() {
            let key = reader.string(of: text)
            let keyOffset = text.isQuoted ? text.offset - 1 : text.offset
            guard keys.insert(key).inserted else {
                let name = String(key.unicodeScalars.prefix(64))
                throw JSONError(.duplicateKey, "the key \"\(name)\" stands twice: remove one", offset: keyOffset)
            }
            members.append(JSONMember(key: key, keyOffset: keyOffset, value: try JSONNode(from: &reader)))
        }
        return members
    }

    /// The member `key` of an object; `nil` when there is none or this is no object.
    package subscript(key: String) -> JSONNode? { members?.first { $0.key == key }?.value }

    /// The element at `index` of an array; `nil` outside it.
    package subscript(index: Int) -> JSONNode? {
        guard let array, array.indices.contains(index) else { return nil }
        return array[index]
    }

    package var string: String? {
        guard case .string(let string) = value else { return nil }
        return string
    }

    package var number: Double? {
        guard case .number(let number) = value else { return nil }
        return number
    }

    package var bool: Bool? {
        guard case .bool(let bool) = value else { return nil }
        return bool
    }

    package var array: [JSONNode]? {
        guard case .array(let array) = value else { return nil }
        return array
    }

    package var members: [JSONMember]? {
        guard case .object(let members) = value else { return nil }
        return members
    }

    package var isNull: Bool { value == .null }

    package var kind: JSONKind {
        switch value {
        case .null: .null
        case .bool: .bool
        case .number: .number
        case .string: .string
        case .array: .array
        case .object: .object
        }
    }

    /// As RFC 8259 text without white space. Numbers must be finite.
    package func encoded() -> [UInt8] {
        var writer = JSONWriter()
        write(to: &writer)
        return writer.bytes
    }

    package func write(to writer: inout JSONWriter) {
        switch value {
        case .null: writer.null()
        case .bool(let bool): writer.bool(bool)
        case .number(let number): writer.number(number)
        case .string(let string): writer.string(string)
        case .array(let elements):
            writer.beginArray()
            for element in elements { element.write(to: &writer) }
            writer.endArray()
        case .object(let members):
            writer.beginObject()
            for member in members {
                writer.key(member.key)
                member.value.write(to: &writer)
            }
            writer.endObject()
        }
    }
}

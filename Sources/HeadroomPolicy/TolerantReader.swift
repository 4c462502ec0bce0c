import HeadroomJSON

/// Reads a document that people wrote to its end in spite of what is wrong with it, so that all its faults can be named at
/// once: breaches of the grammar, repeated keys, and numbers that are not finite.
///
/// A missing comma loses nothing. A value that cannot be read is lost and stands as null; where a key cannot be read, the
/// object is incomplete. After ``maxBreaches``, and where the text ends too soon, the rest is cut off.
struct TolerantReader {
    /// What breaks the grammar at one place.
    struct Breach {
        /// Of the value that was being read, or of the object or array that it would be in.
        let path: String
        let offset: Int
        let message: String
        /// No value is lost by it.
        let isHarmless: Bool
    }

    /// What was found since it was taken last.
    struct Findings {
        var breaches: [Breach] = []
        /// Second and further occurrences, in the order of the document; the first one counts.
        var repeatedKeys: [(path: String, offset: Int)] = []
        /// By the offset of the number: why. It stands as 0.
        var refusedNumbers: [Int: String] = [:]
        /// Paths of values that stand as null since they could not be read.
        var lost: Set<String> = []
        /// Paths of objects, and of arrays, of which a part was not read.
        var incompleteObjects: Set<String> = []
        var incompleteLists: Set<String> = []
    }

    private static let maxBreaches = 50
    /// Each closes a container or passes over a part of the text; this many are more than 50 breaches take.
    private static let maxRecoveries = 1_000

    private var reader: JSONReader
    private var findings = Findings()
    private var lastBreach: Int?
    private var breachCount = 0
    private var recoveries = 0
    /// What follows was not read.
    private(set) var isCut = false

    init(_ bytes: [UInt8], from start: Int = 0, dialect: JSONDialect) {
        reader = JSONReader(bytes, range: start..<bytes.count, dialect: dialect)
    }

    mutating func takeFindings() -> Findings {
        defer { findings = Findings() }
        return findings
    }

    /// The document's only value, and the end behind it.
    mutating func document() -> JSONNode {
        let root = value("")
        endDocument()
        return root
    }

    mutating func endDocument() {
        guard !isCut else { return }
        do throws(JSONError) { try reader.endDocument() } catch { breach("", error, isHarmless: true) }
    }

    /// False, and a breach, where no array begins.
    mutating func beginArray() -> Bool {
        do throws(JSONError) {
            try reader.beginArray()
            return true
        } catch {
            breach("", error, isHarmless: false)
            isCut = true
            return false
        }
    }

    /// Whether the array at `path` has another element, which is then to be read.
    mutating func hasElement(_ path: String) -> Bool {
        while !isCut {
            do throws(JSONError) { return try reader.nextElement() } catch {
                guard goesOn(after: error, in: path, closedBy: UInt8(ascii: "]")) else { break }
            }
        }
        if isCut { noteIncomplete(path, isList: true) }
        return false
    }

    private mutating func nextKey(_ path: String) -> (text: JSONText, key: String)? {
        while !isCut {
            do throws(JSONError) {
                guard let text = try reader.nextKey() else { return nil }
                return (text, reader.string(of: text))
            } catch {
                guard goesOn(after: error, in: path, closedBy: UInt8(ascii: "}")) else { break }
            }
        }
        if isCut { noteIncomplete(path, isList: false) }
        return nil
    }

    /// The next value, whatever it is.
    mutating func value(_ path: String) -> JSONNode {
        var start: Int?
        do throws(JSONError) {
            let kind = try reader.peek()
            start = reader.offset
            let offset = reader.offset
            switch kind {
            case .array:
                try reader.beginArray()
                var elements: [JSONNode] = []
                while hasElement(path) { elements.append(value("\(path)[\(elements.count)]")) }
                return JSONNode(.array(elements), offset: offset)
            case .object:
                try reader.beginObject()
                return JSONNode(.object(members(path)), offset: offset)
            case .null, .bool, .number, .string:
                return try JSONNode(from: &reader)
            }
        } catch {
            let place = start ?? reader.offset
            if error.code == .notFinite {
                findings.refusedNumbers[place] = error.message
                reader.passOver(from: error.offset)
                return JSONNode(.number(0), offset: place)
            }
            breach(path, error, isHarmless: false)
            findings.lost.insert(path)
            if error.code == .unexpectedEnd || error.code == .tooDeep {
                isCut = true
            } else {
                reader.passOver(from: error.offset)
            }
            return JSONNode(.null, offset: place)
        }
    }

    private mutating func members(_ path: String) -> [JSONMember] {
        var members: [JSONMember] = []
        var keys: Set<String> = []
        while let (text, key) = nextKey(path) {
            let keyOffset = text.isQuoted ? text.offset - 1 : text.offset
            let path = KeyPathText.join(path, key)
            let isNew = keys.insert(key).inserted
            if !isNew { findings.repeatedKeys.append((path, keyOffset)) }
            let value = value(path)
            if isNew { members.append(JSONMember(key: key, keyOffset: keyOffset, value: value)) }
        }
        return members
    }

    /// Whether the container at `path` goes on after `error`, which stands between two of its members.
    private mutating func goesOn(after error: JSONError, in path: String, closedBy bracket: UInt8) -> Bool {
        recoveries += 1
        guard recoveries <= TolerantReader.maxRecoveries, error.code != .unexpectedEnd, let byte = reader.nextByte
        else {
            breach(path, error, isHarmless: true)
            isCut = true
            return false
        }
        if byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") {
            breach(path, error, isHarmless: true)
            reader.leaveContainer(consumesBracket: byte == bracket)
            return false
        }
        if reader.isCommaDue, TolerantReader.begins(byte) {
            breach(path, error, isHarmless: true)
            reader.assumeComma()
            return true
        }
        breach(path, error, isHarmless: true)
        noteIncomplete(path, isList: bracket == UInt8(ascii: "]"))
        reader.passOver(from: error.offset)
        return true
    }

    /// A key or a value.
    private static func begins(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "{"),
            UInt8(ascii: "["), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private mutating func noteIncomplete(_ path: String, isList: Bool) {
        if isList { findings.incompleteLists.insert(path) } else { findings.incompleteObjects.insert(path) }
    }

    private mutating func breach(_ path: String, _ error: JSONError, isHarmless: Bool) {
        // What closes several containers is one breach.
        guard error.offset != lastBreach else { return }
        lastBreach = error.offset
        breachCount += 1
        if breachCount > TolerantReader.maxBreaches { isCut = true }
        findings.breaches.append(
            Breach(path: path, offset: error.offset, message: error.message, isHarmless: isHarmless))
    }
}

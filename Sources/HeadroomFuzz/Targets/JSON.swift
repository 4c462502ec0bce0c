import HeadroomJSON

extension FuzzTarget {
    /// One document, by all readers of both dialects.
    static let json = FuzzTarget(name: "json") { bytes in
        let isSkipped = skips(bytes)
        do throws(JSONError) {
            let node = try JSONNode.parse(bytes)
            require(isSkipped, "read, and not passed over")
            require((try? JSONNode.parse(bytes, dialect: .json5)) == node, "JSON5 reads RFC 8259 differently")
            checkWriting(node)
        } catch {
            require(!isSkipped || error.code == .duplicateKey, "passed over, and not read: \(error)")
            checkPlace(error, in: bytes)
            do throws(JSONError) { checkWriting(try JSONNode.parse(bytes, dialect: .json5)) } catch {
                checkPlace(error, in: bytes)
            }
        }
    }

    private static func skips(_ bytes: [UInt8]) -> Bool {
        do throws(JSONError) {
            var reader = JSONReader(bytes)
            try reader.skipValue()
            try reader.endDocument()
            return true
        } catch {
            return false
        }
    }

    /// What was read is written, and read again, as the same.
    private static func checkWriting(_ node: JSONNode) {
        let written = node.encoded()
        for dialect in [JSONDialect.rfc8259, .json5] {
            guard let again = try? JSONNode.parse(written, dialect: dialect) else {
                fatalError("written, and cannot be read: \(written.text)")
            }
            require(again.encoded() == written, "reads back as another value: \(written.text)")
        }
    }

    private static func checkPlace(_ error: JSONError, in bytes: [UInt8]) {
        require((0...bytes.count).contains(error.offset), "an error outside of the text: \(error)")
        let place = JSONPosition(of: error.offset, in: bytes)
        require(place.line >= 1 && place.column >= 1, "no place: \(place)")
    }

    /// One instant or duration, as each of the readers takes it.
    static let times = FuzzTarget(name: "times") { bytes in
        let text = bytes.text
        let first: Int64 = -62_167_219_200_000  // The year 0, which an offset of a day may precede.
        if let instant = RFC3339.parse(text) {
            require((first - 86_400_000...253_402_387_200_000).contains(instant), "outside of the years 0 to 9999")
            let written = RFC3339.format(milliseconds: instant)
            require(RFC3339.parse(written) == min(max(instant, first), 253_402_300_799_999), "\(instant) as \(written)")
        }
        if let milliseconds = GoDuration.parse(text) { require(milliseconds.isFinite, "\(milliseconds) ms") }
    }
}

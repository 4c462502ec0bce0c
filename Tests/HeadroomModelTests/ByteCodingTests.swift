import HeadroomModel
import Testing

@Suite struct ByteCodingTests {
    private static let numbers: [Double] = [0, -0.0, 1, -1.5, .pi, .infinity, .leastNonzeroMagnitude, 1e300]

    private static func sample() -> [UInt8] {
        var writer = ByteWriter()
        writer.write(UInt8(7))
        writer.write(Int64.min)
        writer.write(true)
        writer.write("pool-ä")
        writer.write(Rates(rpm: 5, otpm: 0))
        writer.write(Work(requests: 1, tokens: 2, inputTokens: 3, outputTokens: 4))
        writer.write([Int32(-1), 2]) { $0.write($1) }
        writer.write(Int32?.none) { $0.write($1) }
        for number in numbers { writer.write(number) }
        return writer.bytes
    }

    @discardableResult
    private static func check(_ bytes: [UInt8]) throws(ByteCodingError) -> Bool {
        var reader = ByteReader(bytes)
        var same = try reader.read(UInt8.self) == 7
        same = try reader.read(Int64.self) == .min && same
        same = try reader.readBool() && same
        same = try reader.readString() == "pool-ä" && same
        same = try reader.readRates() == Rates(rpm: 5, otpm: 0) && same
        same = try reader.readWork().amounts == SIMD4(1, 2, 3, 4) && same
        let list = try reader.readArray { reader throws(ByteCodingError) in try reader.read(Int32.self) }
        same = list == [-1, 2] && same
        let none = try reader.readOptional { reader throws(ByteCodingError) in try reader.read(Int32.self) }
        same = none == nil && same
        for number in numbers { same = try reader.readDouble().bitPattern == number.bitPattern && same }
        return same && reader.isAtEnd
    }

    @Test func `what is written is read back to the last bit`() throws {
        #expect(try Self.check(Self.sample()))
    }

    @Test func `integers are little-endian`() {
        var writer = ByteWriter()
        writer.write(UInt32(0x0102_0304))
        #expect(writer.bytes == [4, 3, 2, 1])
    }

    @Test func `bytes that end too soon throw, wherever they end`() {
        let whole = Self.sample()
        for length in whole.indices {
            #expect(throws: ByteCodingError.self, "\(length)") { try Self.check(Array(whole[..<length])) }
        }
    }

    @Test func `a count that the bytes cannot hold is refused before memory is reserved`() {
        var writer = ByteWriter()
        writer.write(count: 4_000_000_000)
        writer.write(UInt8(1))
        var reader = ByteReader(writer.bytes)
        #expect(throws: ByteCodingError.absurdCount) { try reader.readCount() }
    }

    @Test func `a value that its field cannot have is refused`() {
        let cases: [(bytes: [UInt8], read: (inout ByteReader) throws(ByteCodingError) -> Void)] = [
            ([2], { reader throws(ByteCodingError) in _ = try reader.readBool() }),
            ([1, 0, 0xFF], { reader throws(ByteCodingError) in _ = try reader.readString() }),
            ([1, 0, 0x20], { reader throws(ByteCodingError) in _ = try reader.readIdentifier(PoolID.self) }),
            ([16], { reader throws(ByteCodingError) in _ = try reader.readRates() }),
            (
                [0, 0, 0, 0, 0, 0, 0xF8, 0x7F],
                { reader throws(ByteCodingError) in _ = try reader.readAmount() }
            ),
        ]
        for (bytes, read) in cases {
            var reader = ByteReader(bytes)
            #expect(throws: ByteCodingError.outOfRange, "\(bytes)") { try read(&reader) }
        }
    }
}

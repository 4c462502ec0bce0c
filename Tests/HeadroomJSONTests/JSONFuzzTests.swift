import HeadroomJSON
import HeadroomModel
import Testing

@Suite struct JSONFuzzTests {
    @Test func `what was written reads back as the same value`() throws {
        for seed in UInt64(0)..<300 {
            var generator = SplitMix64(seed: seed)
            let node = randomNode(depth: 0, &generator)
            let bytes = node.encoded()
            for dialect in [JSONDialect.rfc8259, .json5] {
                let back = try JSONNode.parse(bytes, dialect: dialect)
                #expect(
                    back.encoded() == bytes && back.isSame(as: node),
                    "seed \(seed): \(String(decoding: bytes, as: UTF8.self))")
            }
            var reader = JSONReader(bytes)
            try reader.skipValue()
            try reader.endDocument()
        }
    }

    @Test func `damaged documents are read or refused, and all readers agree`() {
        for seed in UInt64(0)..<3000 {
            var generator = SplitMix64(seed: seed)
            var bytes = randomNode(depth: 0, &generator).encoded()
            for _ in 0..<Int.random(in: 1...4, using: &generator) { damage(&bytes, &generator) }
            checkAgreement(bytes, "seed \(seed)")
        }
    }

    @Test func `random bytes are read or refused`() {
        let alphabet =
            Array("[]{}:,\"'\\/*+-.0123456789eExXuabfnrtNIl \n\t".utf8) + [
                0x00, 0x1F, 0x7F, 0x80, 0xC3, 0xA9, 0xE2, 0xED, 0xF0, 0xFF,
            ]
        for seed in UInt64(0)..<6000 {
            var generator = SplitMix64(seed: seed)
            let count = Int.random(in: 0...40, using: &generator)
            checkAgreement((0..<count).map { _ in alphabet.randomElement(using: &generator)! }, "seed \(seed)")
        }
    }

    /// Whoever refuses, it is with a place inside the text; skipping and reading differ in repeated keys only; and what
    /// RFC 8259 has, JSON5 has too.
    private func checkAgreement(_ bytes: [UInt8], _ label: String) {
        var isSkipped = true
        do throws(JSONError) {
            var reader = JSONReader(bytes)
            try reader.skipValue()
            try reader.endDocument()
        } catch { isSkipped = false }
        do throws(JSONError) {
            let node = try JSONNode.parse(bytes)
            #expect(isSkipped, "\(label): \(bytes)")
            #expect((try? JSONNode.parse(bytes, dialect: .json5)) == node, "\(label): \(bytes)")
            #expect((try? JSONNode.parse(node.encoded()))?.isSame(as: node) == true, "\(label): \(bytes)")
        } catch {
            #expect(!isSkipped || error.code == .duplicateKey, "\(label): \(bytes) \(error)")
            #expect((0...bytes.count).contains(error.offset), "\(label): \(bytes) \(error)")
            _ = try? JSONNode.parse(bytes, dialect: .json5)
        }
    }

    private func damage(_ bytes: inout [UInt8], _ generator: inout SplitMix64) {
        guard !bytes.isEmpty else { return }
        let place = Int.random(in: 0..<bytes.count, using: &generator)
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &generator)
        case 1: bytes.remove(at: place)
        case 2: bytes.insert(bytes[Int.random(in: 0..<bytes.count, using: &generator)], at: place)
        default: bytes.removeLast(bytes.count - place)
        }
    }

    private func randomNode(depth: Int, _ generator: inout SplitMix64) -> JSONNode {
        switch Int.random(in: 0..<(depth < 5 ? 8 : 5), using: &generator) {
        case 0: return JSONNode(.null)
        case 1: return JSONNode(.bool(Bool.random(using: &generator)))
        case 2: return JSONNode(.number(Double(Int.random(in: -1_000_000...1_000_000, using: &generator)) / 100))
        case 3:
            let value = Double(bitPattern: generator.next())
            return JSONNode(.number(value.isFinite ? value : 0))
        case 4: return JSONNode(.string(randomText(&generator)))
        case 5, 6:
            let count = Int.random(in: 0...4, using: &generator)
            return JSONNode(.array((0..<count).map { _ in randomNode(depth: depth + 1, &generator) }))
        default:
            var keys: Set<String> = []
            var members: [JSONMember] = []
            for _ in 0..<Int.random(in: 0...4, using: &generator) {
                let key = randomText(&generator)
                guard keys.insert(key).inserted else { continue }
                members.append(JSONMember(key: key, value: randomNode(depth: depth + 1, &generator)))
            }
            return JSONNode(.object(members))
        }
    }

    private func randomText(_ generator: inout SplitMix64) -> String {
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...20, using: &generator) {
            let limit: UInt32 = [0x20, 0x80, 0x80, 0x800, 0x10000, 0x110000].randomElement(using: &generator)!
            text.append(Unicode.Scalar(UInt32.random(in: 0..<limit, using: &generator)) ?? "x")
        }
        return String(text)
    }
}

extension JSONNode {
    /// Equal but for the offsets.
    fileprivate func isSame(as other: JSONNode) -> Bool {
        switch (value, other.value) {
        case (.array(let left), .array(let right)):
            left.count == right.count && zip(left, right).allSatisfy { $0.isSame(as: $1) }
        case (.object(let left), .object(let right)):
            left.count == right.count
                && zip(left, right).allSatisfy { $0.key == $1.key && $0.value.isSame(as: $1.value) }
        default: value == other.value
        }
    }
}

import Foundation
import HeadroomModel

/// One answer as it stands on disk.
struct CacheRecord: Equatable {
    /// Milliseconds since 1970.
    var at: Int64
    var owner: AnswerCache.Owner
    var work: Call.WorkKind
    var text: String
    var answer: [UInt8]
    var inputTokens: Int
    var outputTokens: Int
    /// Normalized.
    var vector: [Float]?

    func encoded() -> [UInt8] {
        var writer = ByteWriter()
        writer.write(at)
        writer.write(owner.name)
        writer.write(owner.model)
        writer.write(work.rawValue)
        writer.write(bytes: Array(text.utf8))
        writer.write(bytes: answer)
        writer.write(Int64(inputTokens))
        writer.write(Int64(outputTokens))
        writer.write(vector ?? []) { $0.write($1) }
        return writer.bytes
    }

    init(
        at: Int64, owner: AnswerCache.Owner, work: Call.WorkKind, text: String, answer: [UInt8], inputTokens: Int,
        outputTokens: Int, vector: [Float]?
    ) {
        self.at = at
        self.owner = owner
        self.work = work
        self.text = text
        self.answer = answer
        self.inputTokens = inputTokens
        self.outputTokens = outputTokens
        self.vector = vector
    }

    init(decoding bytes: [UInt8]) throws(ByteCodingError) {
        var reader = ByteReader(bytes)
        at = try reader.read(Int64.self)
        owner = AnswerCache.Owner(name: try reader.readString(), model: try reader.readString())
        guard let work = Call.WorkKind(rawValue: try reader.readString()) else { throw .outOfRange }
        self.work = work
        text = String(decoding: try reader.readBytes(), as: UTF8.self)
        answer = try reader.readBytes()
        inputTokens = Int(try reader.read(Int64.self))
        outputTokens = Int(try reader.read(Int64.self))
        let floats = try reader.readArray(leastBytes: 4) { try $0.readFloat() }
        guard floats.allSatisfy(\.isFinite) else { throw .outOfRange }
        vector = floats.isEmpty ? nil : floats
    }
}

/// The answers of a cache on disk: a header, then records that are only appended. Each has its length and a checksum, so that
/// what a crash cut off is noticed, and ends the file.
struct CacheFile {
    private let url: URL
    private var handle: FileHandle?
    private(set) var bytes: Int

    /// The last byte is the version.
    private static let header = Array("headroom-cache\n".utf8) + [1]

    /// The file in this directory, which is made, and what stands in it. A file of another version is begun anew.
    static func open(_ directory: URL) throws -> (file: CacheFile, records: [CacheRecord]) {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let url = directory.appending(path: "answers.cache")
        let data = (try? Data(contentsOf: url)).map { Array($0) } ?? []
        var records: [CacheRecord] = []
        if data.starts(with: header) {
            var offset = header.count
            while let (payload, next) = record(in: data, at: offset), let found = try? CacheRecord(decoding: payload) {
                records.append(found)
                offset = next
            }
        }
        var file = CacheFile(url: url, handle: nil, bytes: 0)
        // What was cut off goes, and the file is no one else's to read: answers are tenants' own.
        try file.write([])
        return (file, records)
    }

    private static func record(in data: [UInt8], at offset: Int) -> (payload: [UInt8], next: Int)? {
        func word(_ start: Int) -> Int { (0..<4).reduce(0) { $0 | Int(data[start + $1]) << (8 * $1) } }
        guard offset + 8 <= data.count else { return nil }
        let (length, checksum) = (word(offset), word(offset + 4))
        guard length <= data.count - offset - 8 else { return nil }
        let payload = Array(data[offset + 8..<offset + 8 + length])
        return Int(self.checksum(payload)) == checksum ? (payload, offset + 8 + length) : nil
    }

    /// FNV-1a: for accidents, not for enemies.
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        bytes.reduce(2_166_136_261) { ($0 ^ UInt32($1)) &* 16_777_619 }
    }

    private static func frame(_ record: CacheRecord) -> [UInt8] {
        let payload = record.encoded()
        var writer = ByteWriter()
        writer.write(UInt32(payload.count))
        writer.write(checksum(payload))
        return writer.bytes + payload
    }

    mutating func append(_ record: CacheRecord) {
        let frame = Self.frame(record)
        // A full disk must not end the service: what is not written is not there after the next start.
        guard (try? handle?.write(contentsOf: Data(frame))) != nil else { return }
        bytes += frame.count
    }

    mutating func rewrite(_ records: [CacheRecord]) {
        try? write(records)
    }

    private mutating func write(_ records: [CacheRecord]) throws {
        let content = records.reduce(into: Self.header) { $0 += Self.frame($1) }
        let new = url.appendingPathExtension("new")
        guard
            FileManager.default.createFile(
                atPath: new.path, contents: Data(content), attributes: [.posixPermissions: 0o600])
        else { throw CocoaError(.fileWriteUnknown) }
        guard unsafe rename(new.path, url.path) == 0 else { throw CocoaError(.fileWriteUnknown) }
        handle = try FileHandle(forWritingTo: url)
        _ = try handle?.seekToEnd()
        bytes = content.count
    }
}

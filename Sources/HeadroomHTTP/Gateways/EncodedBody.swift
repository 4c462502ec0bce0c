import Synchronization

/// One body of a generation, encoded once and shared by all who ask for it; compressed once as well, when the first
/// client asks for that.
final class EncodedBody: Sendable {
    let plain: PreparedResponse
    /// `"EPOCH.GENERATION.VARIANT"`, of the plain body.
    let tag: String
    private let headers: [(name: String, value: String)]

    private enum Compressed {
        case none
        /// A task is at it.
        case inWork
        case ready(PreparedResponse)
    }

    private struct Unchanged {
        var plain: PreparedResponse?
        var compressed: PreparedResponse?
    }

    private let compressed = Mutex(Compressed.none)
    private let unchanged = Mutex(Unchanged())

    /// Below this gzip gains next to nothing.
    private static let minCompressedBytes = 1024
    /// Larger bodies take more than a millisecond, for which no poll should hold up the others of its thread.
    private static let maxInlineBytes = 128 << 10

    /// - Parameter headers: all but those of the content coding.
    init(
        tag: String, headers: [(name: String, value: String)], body: [UInt8], type: String = "application/json",
        caching: String = "no-store"
    ) {
        self.tag = tag
        let headers =
            headers + [
                (name: "Cache-Control", value: caching), (name: "ETag", value: tag),
                (name: "Vary", value: "Accept-Encoding"),
            ]
        self.headers = headers
        plain = PreparedResponse(headers: headers + [(name: "Content-Type", value: type)], body: body)
    }

    /// The size of its copy in memory.
    var byteCount: Int {
        compressed.withLock { compressed in
            if case .ready(let response) = compressed { plain.byteCount + response.byteCount } else { plain.byteCount }
        }
    }

    /// Large enough to be sent in gzip to those who take it.
    var isCompressible: Bool { plain.byteCount >= Self.minCompressedBytes }

    func tag(isCompressed: Bool) -> String { isCompressed ? PreparedResponse.compressedTag(tag) : tag }

    /// The answer to a client that has it: a 304's headers, without a body.
    func unchangedResponse(isCompressed: Bool) -> PreparedResponse {
        unchanged.withLock { unchanged in
            if let known = isCompressed ? unchanged.compressed : unchanged.plain { return known }
            let tag = tag(isCompressed: isCompressed)
            let response = PreparedResponse(
                bodilessWith: headers.map { (name: $0.name, value: $0.name == "ETag" ? tag : $0.value) })
            if isCompressed { unchanged.compressed = response } else { unchanged.plain = response }
            return response
        }
    }

    enum Compression {
        case ready(PreparedResponse)
        /// Too large to be done here: call ``compress()`` on a task.
        case onTask
    }

    func compression() -> Compression {
        compressed.withLock { compressed in
            switch compressed {
            case .ready(let response): return .ready(response)
            // Rather a plain body than a wait for another client's.
            case .inWork: return .ready(plain)
            case .none:
                guard plain.byteCount <= Self.maxInlineBytes else { return .onTask }
                let response = plain.compressed()
                compressed = .ready(response)
                return .ready(response)
            }
        }
    }

    /// The body in gzip, or the plain one while another task compresses it.
    func compress() -> PreparedResponse {
        let isMine = compressed.withLock { compressed in
            guard case .none = compressed else { return false }
            compressed = .inWork
            return true
        }
        if isMine {
            let response = plain.compressed()
            compressed.withLock { $0 = .ready(response) }
        }
        return compressed.withLock { compressed in
            if case .ready(let response) = compressed { response } else { plain }
        }
    }
}

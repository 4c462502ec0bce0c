/// As much of HTTP/2 (RFC 9113) and gRPC as a watcher of etcd needs. Headers go without compression.
enum GRPC {
    private enum FrameType: UInt8 {
        case data = 0
        case headers = 1
        case settings = 4
        case ping = 6
        case windowUpdate = 8
    }

    private static let (endStream, endHeaders): (UInt8, UInt8) = (1, 4)

    /// What a client says first: it takes 2 GiB before the server has to wait.
    static var preface: [UInt8] {
        let most: [UInt8] = [0x7F, 0xFF, 0xFF, 0xFF]
        // The identifier 4 is the window that each stream begins with.
        return Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + frame(.settings, stream: 0, [0, 4] + most)
            + frame(.windowUpdate, stream: 0, [0x7F, 0xFF, 0, 0])
    }

    /// One call's headers and its one message.
    /// - Parameter isOpen: the client may send more.
    static func call(_ path: String, _ message: [UInt8], stream: UInt32, isOpen: Bool) -> [UInt8] {
        // Indices into the static table (RFC 7541, appendix A): POST, http, :path, :authority, content-type.
        let headers =
            [0x83, 0x86, 0x04] + text(path) + [0x01] + text("127.0.0.1") + [0x0F, 0x10] + text("application/grpc")
            + [0x00] + text("te") + text("trailers")
        let size = (0..<4).reversed().map { UInt8(truncatingIfNeeded: message.count >> ($0 * 8)) }
        return frame(.headers, endHeaders, stream: stream, headers)
            + frame(.data, isOpen ? 0 : endStream, stream: stream, [0] + size + message)
    }

    /// A field of bytes in a message of protocol buffers.
    static func field(_ number: UInt8, _ bytes: [UInt8]) -> [UInt8] {
        var size: [UInt8] = []
        var left = bytes.count
        repeat {
            size.append(UInt8(left & 0x7F) | (left > 0x7F ? 0x80 : 0))
            left >>= 7
        } while left > 0
        return [number << 3 | 2] + size + bytes
    }

    private static func text(_ text: String) -> [UInt8] { [UInt8(text.utf8.count)] + Array(text.utf8) }

    private static func frame(
        _ type: FrameType, _ flags: UInt8 = 0, stream: UInt32, _ payload: [UInt8]
    ) -> [UInt8] {
        let size = payload.count
        let head = [UInt8(size >> 16), UInt8(size >> 8 & 0xFF), UInt8(size & 0xFF), type.rawValue, flags]
        return head + (0..<4).reversed().map { UInt8(truncatingIfNeeded: stream >> ($0 * 8)) } + payload
    }

    /// Counts the messages that come in on a connection with one stream.
    struct Incoming {
        private var bytes: [UInt8] = []
        /// Of the message that is coming in.
        private var message: [UInt8] = []

        /// How many messages have become complete, and what has to be sent in answer to the server's questions.
        mutating func take(_ more: ArraySlice<UInt8>) -> (messages: Int, reply: [UInt8]) {
            bytes += more
            var messages = 0
            var reply: [UInt8] = []
            var start = 0
            while bytes.count - start >= 9 {
                let size = Int(bytes[start]) << 16 | Int(bytes[start + 1]) << 8 | Int(bytes[start + 2])
                let end = start + 9 + size
                guard bytes.count >= end else { break }
                let isAnswer = bytes[start + 4] & 1 == 1
                switch FrameType(rawValue: bytes[start + 3]) {
                case .data: messages += count(bytes[start + 9..<end])
                case .settings where !isAnswer: reply += frame(.settings, 1, stream: 0, [])
                case .ping where !isAnswer: reply += frame(.ping, 1, stream: 0, Array(bytes[start + 9..<end]))
                default: break
                }
                start = end
            }
            bytes.removeFirst(start)
            return (messages, reply)
        }

        /// A message is a byte, its size in four, and so many bytes; frames need not end where it does.
        private mutating func count(_ data: ArraySlice<UInt8>) -> Int {
            message += data
            var messages = 0
            var start = 0
            while message.count - start >= 5 {
                let end = start + 5 + message[start + 1...start + 4].reduce(0) { $0 << 8 | Int($1) }
                guard message.count >= end else { break }
                messages += 1
                start = end
            }
            message.removeFirst(start)
            return messages
        }
    }
}

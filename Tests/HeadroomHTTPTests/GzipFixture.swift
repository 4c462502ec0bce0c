import CZlib

/// zlib by itself, to hold the service's gzip against.
enum GzipFixture {
    static func compressed(_ bytes: [UInt8]) -> [UInt8] {
        var stream = unsafe z_stream()
        unsafe _ = headroom_gzip_begin(&stream, 6)
        defer { unsafe _ = deflateEnd(&stream) }
        let capacity = unsafe Int(deflateBound(&stream, UInt(bytes.count)))
        return unsafe bytes.withUnsafeBufferPointer { input in
            unsafe [UInt8](unsafeUninitializedCapacity: capacity) { output, count in
                unsafe stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
                unsafe stream.avail_in = UInt32(input.count)
                unsafe stream.next_out = output.baseAddress
                unsafe stream.avail_out = UInt32(capacity)
                unsafe _ = deflate(&stream, Z_FINISH)
                count = unsafe capacity - Int(stream.avail_out)
            }
        }
    }

    static func expanded(_ bytes: [UInt8]) -> [UInt8] {
        var stream = unsafe z_stream()
        unsafe _ = headroom_gunzip_begin(&stream)
        defer { unsafe _ = inflateEnd(&stream) }
        let capacity = 64 << 20
        return unsafe bytes.withUnsafeBufferPointer { input in
            unsafe [UInt8](unsafeUninitializedCapacity: capacity) { output, count in
                unsafe stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
                unsafe stream.avail_in = UInt32(input.count)
                unsafe stream.next_out = output.baseAddress
                unsafe stream.avail_out = UInt32(capacity)
                unsafe _ = inflate(&stream, Z_FINISH)
                count = unsafe capacity - Int(stream.avail_out)
            }
        }
    }
}

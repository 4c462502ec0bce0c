import CMicroHTTPD

/// A body and headers that any number of connections can be sent at the same time, without a copy and without an
/// allocation of ours.
@safe package final class PreparedResponse: @unchecked Sendable {
    // Sendable: libmicrohttpd counts a response's references under a lock of its own, and nothing here changes.
    let handle: OpaquePointer
    private let body: ResponseBody
    private let headers: [(name: String, value: String)]

    package init(headers: [(name: String, value: String)], body: [UInt8]) {
        self.headers = headers
        self.body = ResponseBody(body)
        unsafe handle = Self.makeHandle(headers, self.body)
    }

    private init(headers: [(name: String, value: String)], body: ResponseBody) {
        self.headers = headers
        self.body = body
        unsafe handle = Self.makeHandle(headers, body)
    }

    /// An answer that has no body by its status, as a 304.
    init(bodilessWith headers: [(name: String, value: String)]) {
        self.headers = headers
        body = ResponseBody([])
        guard let response = unsafe headroom_mhd_bodiless_response() else {
            preconditionFailure("no memory for a response")
        }
        unsafe Self.add(headers, to: response)
        unsafe handle = response
    }

    deinit {
        // Connections that still send it hold references of their own.
        unsafe MHD_destroy_response(handle)
    }

    package var byteCount: Int { unsafe body.bytes.count }

    /// The same, as the connection's last.
    func closing() -> PreparedResponse {
        PreparedResponse(headers: headers + [(name: "Connection", value: "close")], body: body)
    }

    /// The same in gzip. A tag names bytes, so the tag of these ends in `-gzip`.
    func compressed() -> PreparedResponse {
        let headers = headers.map { header in
            header.name == "ETag" ? (name: header.name, value: Self.compressedTag(header.value)) : header
        }
        return unsafe PreparedResponse(
            headers: headers + [(name: "Content-Encoding", value: "gzip")],
            body: Gzip.compress(UnsafeRawBufferPointer(body.bytes)))
    }

    /// `"x"` becomes `"x-gzip"`.
    static func compressedTag(_ tag: String) -> String { tag.dropLast() + "-gzip\"" }

    private static func makeHandle(_ headers: [(name: String, value: String)], _ body: ResponseBody) -> OpaquePointer {
        let response = unsafe MHD_create_response_from_buffer_with_free_callback_cls(
            body.bytes.count, body.bytes.baseAddress, releaseResponseBody, Unmanaged.passRetained(body).toOpaque())
        guard let response = unsafe response else { preconditionFailure("no memory for a response") }
        unsafe add(headers, to: response)
        return unsafe response
    }

    private static func add(_ headers: [(name: String, value: String)], to response: OpaquePointer) {
        for header in headers {
            let result = unsafe MHD_add_response_header(response, header.name, header.value)
            precondition(result == .YES, "\(header.name) is no header, or has a line break in its value")
        }
    }
}

/// Bytes that stay where they are until the last connection has sent them.
@safe private final class ResponseBody {
    let bytes: UnsafeMutableRawBufferPointer

    init(_ body: [UInt8]) {
        unsafe bytes = .allocate(byteCount: body.count, alignment: 1)
        unsafe bytes.copyBytes(from: body)
    }

    deinit { unsafe bytes.deallocate() }
}

/// At file scope: a closure would inherit the isolation of where it is written.
private func releaseResponseBody(_ body: UnsafeMutableRawPointer?) {
    guard let body = unsafe body else { return }
    unsafe Unmanaged<ResponseBody>.fromOpaque(body).release()
}

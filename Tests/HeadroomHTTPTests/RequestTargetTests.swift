import HeadroomHTTP
import Testing

@Suite struct RequestTargetTests {
    @Test func `a target is decoded once, path and query each by their rules`() {
        let cases: [(String, path: String, query: [[String]])] = [
            ("/", "/", []), ("/a/b", "/a/b", []), ("/a?", "/a", []), ("/a?x", "/a", [["x", ""]]),
            ("/a?x=1&x=2&y==", "/a", [["x", "1"], ["x", "2"], ["y", "="]]),
            ("/a%2Fb+c?x=a+b%2B%26", "/a/b+c", [["x", "a b+&"]]), ("/%25zz", "/%zz", []),
            ("/%C3%A4?=v", "/ä", [["", "v"]]),
        ]
        for (text, path, query) in cases {
            let target = RequestTarget(Array(text.utf8))
            #expect(target?.path == path, "\(text)")
            #expect(target?.query.map { [$0.name, $0.value] } == query, "\(text)")
        }
    }

    @Test func `what cannot be decoded is no target`() {
        for text in ["", "a", "*", "http://x/", "/%", "/%4", "/%zz", "/%00", "/?x=%ff", "/%C3"] {
            #expect(RequestTarget(Array(text.utf8)) == nil, "\(text)")
        }
    }
}

@Suite struct ListenAddressTests {
    @Test func `an address is a host and a port`() throws {
        let cases: [(String, host: String, port: UInt16, isLoopback: Bool)] = [
            ("127.0.0.1:8420", "127.0.0.1", 8420, true), ("localhost:0", "localhost", 0, true),
            ("[::1]:8420", "::1", 8420, true), ("0.0.0.0:80", "0.0.0.0", 80, false), ("[::]:1", "::", 1, false),
        ]
        for (text, host, port, isLoopback) in cases {
            let address = try ListenAddress(parsing: text)
            #expect(address == ListenAddress(host: host, port: port))
            #expect(address.isLoopback == isLoopback)
            #expect(address.description == text)
        }
    }

    @Test func `a bad address is told what would be right`() {
        for text in ["", "8420", "localhost", ":80", "localhost:99999", "localhost:-1", "::1:80", "localhost:x"] {
            let error = #expect(throws: HTTPError.self) { try ListenAddress(parsing: text) }
            #expect(error?.code == .badAddress)
            #expect(error?.message.contains("an address is HOST:PORT") == true, "\(text)")
        }
    }
}

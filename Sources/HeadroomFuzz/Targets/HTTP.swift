import HeadroomHTTP

extension FuzzTarget {
    /// The target of a request line.
    static let requestTargets = FuzzTarget(name: "request-targets") { bytes in
        guard let target = RequestTarget(bytes) else { return }
        require(target.path.utf8.first == UInt8(ascii: "/"), "no path: \(target)")
        let texts = [target.path] + target.query.flatMap { [$0.name, $0.value] }
        require(texts.allSatisfy { !$0.utf8.contains(0) }, "a zero byte: \(target)")
        // A combining mark behind the slash makes one character of both.
        var written = [UInt8(ascii: "/")] + escaped(target.path.utf8.dropFirst())
        for (index, item) in target.query.enumerated() {
            written.append(UInt8(ascii: index == 0 ? "?" : "&"))
            written += escaped(item.name.utf8[...]) + [UInt8(ascii: "=")] + escaped(item.value.utf8[...])
        }
        require(RequestTarget(written) == target, "reads back as another target: \(written.text)")
    }

    /// Each byte percent-encoded.
    private static func escaped(_ text: Substring.UTF8View) -> [UInt8] {
        let digits = Array("0123456789ABCDEF".utf8)
        return text.flatMap { [UInt8(ascii: "%"), digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    }
}

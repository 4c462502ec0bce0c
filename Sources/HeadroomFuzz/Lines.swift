/// Inputs of several parts are lines of text, so that seeds can be read and the fuzzer can join them.
extension [UInt8] {
    /// The text between line feeds, of at most `most` lines.
    func lines(most: Int) -> [[UInt8]] {
        split(separator: UInt8(ascii: "\n"), maxSplits: most, omittingEmptySubsequences: true).prefix(most)
            .map(Array.init)
    }

    /// What stands before the first empty line, line by line, and all that follows it.
    var headAndBody: (head: [String], body: [UInt8]) {
        let feeds = [UInt8](repeating: UInt8(ascii: "\n"), count: 2)
        let end = firstRange(of: feeds)
        let head = self[..<(end?.lowerBound ?? count)].split(separator: UInt8(ascii: "\n"))
        return (head.map { String(decoding: $0, as: UTF8.self) }, end.map { Array(self[$0.upperBound...]) } ?? [])
    }

    var text: String { String(decoding: self, as: UTF8.self) }
}

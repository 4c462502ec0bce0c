/// The known name that a misspelled one probably stands for.
package enum NearestName {
    /// Names are compared up to this length, in bytes: no identifier is longer.
    private static let maxLength = 128

    /// The name with the fewest edits from `name`: letters added, left out, replaced, or two neighbours swapped. One edit
    /// is allowed for each three letters, three in all; letters match in either case.
    ///
    /// - Returns: the first in bytewise order where several are as near; `nil` when none is near.
    package static func of(_ name: String, among names: some Sequence<String>) -> String? {
        let wanted = letters(of: name)
        // Of two letters any name is near.
        guard (3...maxLength).contains(wanted.count) else { return nil }
        var limit = min(wanted.count / 3, 3)
        var best: String?
        for candidate in names {
            let letters = letters(of: candidate)
            guard abs(letters.count - wanted.count) <= limit, letters.count <= maxLength else { continue }
            let edits = edits(from: wanted, to: letters)
            guard edits <= limit else { continue }
            if let known = best, edits == limit, known <= candidate { continue }
            best = candidate
            limit = edits
        }
        return best
    }

    /// As a sentence to add to a refusal: `; did you mean "acme"?`, or nothing.
    package static func question(_ name: String, among names: some Sequence<String>) -> String {
        of(name, among: names).map { "; did you mean \"\($0)\"?" } ?? ""
    }

    private static func letters(of name: String) -> [UInt8] { Array(name.lowercased().utf8) }

    /// Optimal string alignment: Levenshtein's distance, with a swap of neighbours as one edit.
    private static func edits(from left: [UInt8], to right: [UInt8]) -> Int {
        var beforeLast = [Int](repeating: 0, count: right.count + 1)
        var last = Array(0...right.count)
        for i in left.indices {
            var row = [i + 1] + [Int](repeating: 0, count: right.count)
            for j in right.indices {
                let replaced = last[j] + (left[i] == right[j] ? 0 : 1)
                row[j + 1] = min(replaced, last[j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
                    row[j + 1] = min(row[j + 1], beforeLast[j - 1] + 1)
                }
            }
            beforeLast = last
            last = row
        }
        return last[right.count]
    }
}

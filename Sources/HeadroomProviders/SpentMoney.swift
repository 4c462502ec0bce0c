/// Whether a message says that money is gone: a word for money near one for its end, in whatever order and wording. "You've
/// exhausted all your credits", "do not have enough credits", "balance is too low", but not "add credits for more".
enum SpentMoney {
    static func isTold(in prose: Prose) -> Bool {
        let words = prose.words
        return words.indices.contains { index in
            nouns.contains(words[index])
                && words[max(0, index - reach)..<min(words.count, index + reach + 1)].indices.contains {
                    ends(at: $0, words)
                }
        }
    }

    /// In words: "You have either used all of your team's available credits".
    private static let reach = 5
    private static let nouns: Set<String> = ["credit", "credits", "balance", "funds", "wallet", "prepayment"]
    private static let endings: Set<String> = [
        "exhausted", "depleted", "insufficient", "overdue", "overdrawn", "negative", "expired", "no", "zero",
    ]

    private static func ends(at index: Int, _ words: [String]) -> Bool {
        let before = words[max(0, index - 4)..<index]
        switch words[index] {
        // The `t` is what an apostrophe leaves of "don't".
        case "enough": return !before.isDisjoint(with: ["not", "t", "without"])
        case "low": return before.last == "too"
        case "out": return index + 1 < words.count && words[index + 1] == "of"
        case let word: return endings.contains(word)
        }
    }
}

extension ArraySlice<String> {
    fileprivate func isDisjoint(with others: Set<String>) -> Bool { !contains { others.contains($0) } }
}

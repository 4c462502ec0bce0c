/// Whether a message says that money is gone: a word for money near one for its end, in whatever order and wording. "You've
/// exhausted all your credits", "do not have enough credits", "balance is too low", but not "add credits for more".
enum SpentMoney {
    static func isTold(in prose: Prose) -> Bool {
        let words = prose.words
        return words.indices.contains { index in
            nouns.contains(words[index]) && !words[(index + 1)...].prefix(1).contains { $0.hasPrefix("card") }
                && words.indices.contains { $0 != index && abs($0 - index) <= reach(ofWordAt: $0, in: words) }
        }
    }

    private static let nouns: Set<String> = ["credit", "credits", "balance", "funds", "wallet", "prepayment"]

    /// How many words off money may be named for it to be gone; 0 where the word says nothing of the kind.
    private static func reach(ofWordAt index: Int, in words: [String]) -> Int {
        switch words[index] {
        // "You have exhausted all of your team's credits".
        case "exhausted", "depleted", "expired", "overdue": 6
        case "insufficient", "negative", "overdrawn": 3
        case "no", "zero": 2
        case "low": index > 0 && words[index - 1] == "too" ? 3 : 0
        case "out": index + 1 < words.count && words[index + 1] == "of" ? 3 : 0
        // The `t` is what an apostrophe leaves of "don't".
        case "enough": words[..<index].suffix(4).contains { ["not", "t", "without"].contains($0) } ? 3 : 0
        default: 0
        }
    }
}

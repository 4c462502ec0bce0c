/// How many tokens a text is, counted without the model's tokenizer.
///
/// Tokenizers of large models make a token of a common word with the space before it, of some four letters of a rare one,
/// of up to three digits, of two or three signs, and of one to two bytes of most other scripts. The article Evidence
/// says how far the estimate is off. Use the provider's own count where there is one; a ``BudgetManager`` settles each
/// call at what the provider counted.
public enum PromptEstimate {
    /// Tokens around each message of a chat: its role and its separators.
    public static let tokensPerMessage = 4

    /// Of a request of which only the size is known.
    public static func tokens(ofBytes count: Int) -> Int {
        let count = max(0, count)
        return count / 4 + (count % 4 == 0 ? 0 : 1)
    }

    public static func tokens(of text: String) -> Int {
        var text = text
        return text.withUTF8 { bytes in
            var counter = Counter()
            var start = 0
            while start < bytes.count {
                let kind = unsafe Kind(bytes[start])
                var end = start + 1
                while end < bytes.count, unsafe Kind(bytes[end]) == kind {
                    // `camelCase` is two words.
                    if kind == .letter, unsafe isCapital(bytes[end]), unsafe !isCapital(bytes[end - 1]) { break }
                    end += 1
                }
                counter.add(end - start, of: kind, first: unsafe bytes[start])
                start = end
            }
            return counter.tokens
        }
    }

    private enum Kind {
        case letter, digit, other, space, lineBreak, sign

        init(_ byte: UInt8) {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): self = .letter
            case UInt8(ascii: "0")...UInt8(ascii: "9"): self = .digit
            case 0x80...: self = .other
            case UInt8(ascii: " "): self = .space
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): self = .lineBreak
            default: self = .sign
            }
        }
    }

    private static func isCapital(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") }

    /// Sums in hundredths of a token, fitted to cl100k_base over prose in seven languages, code and JSON.
    private struct Counter {
        /// Of words, if the text is English, and if it is another language in Latin letters: that has fewer words of its
        /// own in the vocabulary.
        private var english = 0
        private var foreign = 0
        private var rest = 0
        private var letters = 0
        private var accents = 0

        mutating func add(_ count: Int, of kind: Kind, first: UInt8) {
            switch kind {
            case .letter:
                letters += count
                english += 100 + max(0, count - 5) / 6 * 100
                foreign += 100 + max(0, count - 3) * 200 / 9
            case .digit: rest += (count + 2) / 3 * 100
            // Three bytes a sign: Chinese, Japanese and most others.
            case .other where first >= 0xE0: rest += 36 * count
            // Latin letters with accents.
            case .other where first <= 0xC5:
                rest += 60 * ((count + 1) / 2)
                accents += count / 2
            // Greek, Cyrillic, Hebrew, Arabic.
            case .other: rest += 50 + 19 * count
            // The space before a word is part of its token; indentation is one.
            case .space: rest += count > 1 ? 100 : 0
            case .lineBreak: rest += 100
            case .sign: rest += 80 * ((count + 1) / 2)
            }
        }

        var tokens: Int {
            // Of a hundred letters of German one or two have an accent, of English text next to none.
            let words = accents * 250 > letters ? foreign : english
            return (rest + words + 99) / 100
        }
    }
}

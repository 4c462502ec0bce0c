/// How many tokens a text is, counted without the model's tokenizer.
///
/// Tokenizers of large models make a token of a common word with the space before it, of some four letters of a rare one,
/// of up to three digits, and of one to two bytes of most other scripts. Use the provider's own count where there is one;
/// a ``BudgetManager`` settles each call at what the provider counted.
public enum PromptEstimate {
    /// Tokens around each message of a chat: its role and its separators.
    public static let tokensPerMessage = 4

    public static func tokens(of text: String) -> Int {
        var tokens = 0
        var letters = 0
        var digits = 0
        var others = 0
        func endRun() {
            // A word of up to seven letters is mostly one token.
            if letters > 0 { tokens += 1 + max(0, letters - 4) / 5 }
            tokens += (digits + 2) / 3
            tokens += (others + 1) / 2
            (letters, digits, others) = (0, 0, 0)
        }
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"):
                if digits > 0 || others > 0 { endRun() }
                letters += 1
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                if letters > 0 || others > 0 { endRun() }
                digits += 1
            case 0x80...:
                if letters > 0 || digits > 0 { endRun() }
                others += 1
            case UInt8(ascii: " "):
                endRun()
            default:
                endRun()
                // A line break, or a sign.
                tokens += 1
            }
        }
        endRun()
        return tokens
    }
}

import Glibc
import Synchronization

/// Colour, where a person reads at a terminal. All of it is made here.
///
/// `--color always` and `never` go before everything else. Otherwise there is none when `NO_COLOR` is set and not empty
/// (no-color.org), when the terminal is a `dumb` one, and in files and pipes.
enum TerminalColor: String, CaseIterable, Sendable {
    case auto, always, never

    /// What a piece of text is.
    enum Tint: String, Sendable {
        case strong = "1"
        case bad = "31"
        case good = "32"
        case warning = "33"
    }

    /// Where it is written.
    enum Stream: Sendable {
        case output, error

        fileprivate var descriptor: Int32 { self == .output ? STDOUT_FILENO : STDERR_FILENO }
    }

    private static let chosen = Mutex(TerminalColor.auto)

    /// Takes `--color WHEN` out of `arguments`: every command has it.
    static func choose(_ arguments: [String]) throws(UsageError) -> [String] {
        var rest: [String] = []
        var words = arguments[...]
        while let word = words.popFirst() {
            guard word == "--color" || word.hasPrefix("--color=") else {
                rest.append(word)
                continue
            }
            let names = allCases.map(\.rawValue).joined(separator: ", ")
            let given = word == "--color" ? words.popFirst() : String(word.dropFirst("--color=".count))
            guard let given else { throw UsageError("--color needs a value: one of \(names)") }
            guard let color = TerminalColor(rawValue: given) else {
                throw UsageError("--color \"\(given)\": must be one of \(names)")
            }
            chosen.withLock { $0 = color }
        }
        return rest
    }

    /// `text` as it is, or in its colour.
    static func paint(_ text: String, _ tint: Tint?, on stream: Stream = .output) -> String {
        guard let tint, !text.isEmpty, isOn(stream) else { return text }
        return "\u{1B}[\(tint.rawValue)m\(text)\u{1B}[0m"
    }

    private static func isOn(_ stream: Stream) -> Bool {
        switch chosen.withLock({ $0 }) {
        case .always: true
        case .never: false
        case .auto:
            ServiceClient.setting("NO_COLOR") == nil && ServiceClient.setting("TERM") != "dumb"
                && isatty(stream.descriptor) == 1
        }
    }
}

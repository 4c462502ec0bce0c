/// A command's help, taken apart: completions and manual pages are made of it, so that there is one text to keep right.
struct HelpPage {
    struct Option: Equatable {
        /// With its dashes.
        let name: String
        /// The word for its value, as `FILE` or `csv|json`; `nil` for a flag.
        let value: String?
        var description: String

        /// The legal values, where the help lists them all.
        var choices: [String] {
            guard let value, value.contains("|"), value == value.lowercased() else { return [] }
            return value.split(separator: "|").map(String.init)
        }
        var isFile: Bool { value.map { ["FILE", "PATH", "NAME|FILE"].contains($0) } ?? false }
        var isDirectory: Bool { value == "DIR" }
    }

    /// A part between empty lines.
    enum Block {
        /// To be filled.
        case text(String)
        case options([Option])
        /// To be kept line by line.
        case lines([String])
    }

    let name: String
    let summary: String
    /// Each way to call the command, on one line.
    private(set) var usages: [String] = []
    private(set) var blocks: [Block] = []

    init(_ command: Command) {
        name = command.name
        summary = command.summary
        var parts = command.help.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            .split { $0.isEmpty }.map(Array.init)
        if !parts.isEmpty { readUsage(parts.removeFirst()) }
        blocks = parts.map(Self.block)
    }

    /// Those that the help describes, then those that only the usage names; each once.
    var options: [Option] {
        var options: [Option] = []
        for case .options(let described) in blocks { options += described }
        for usage in usages {
            for option in Self.options(inUsage: usage) where !options.contains(where: { $0.name == option.name }) {
                options.append(option)
            }
        }
        // Every command takes it.
        options.append(
            Option(
                name: "--color", value: TerminalColor.allCases.map(\.rawValue).joined(separator: "|"),
                description: "colour at a terminal unless NO_COLOR is set, always, or never"))
        // `csv|json` stands in the usage, where the description has a word.
        return options.map { option in
            let named = usages.flatMap(Self.options(inUsage:)).first { $0.name == option.name && !$0.choices.isEmpty }
            return Option(name: option.name, value: named?.value ?? option.value, description: option.description)
        }
    }

    /// The words that may follow the command, as `create` and `list`.
    var words: [String] {
        var words: [String] = []
        for usage in usages {
            let rest = usage.split(separator: " ").dropFirst(1 + name.split(separator: " ").count)
            guard let first = rest.first else { continue }
            for word in String(first).trimmingBrackets.split(separator: "|").map(String.init)
            where word.utf8.allSatisfy({ (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) })
                && !words.contains(word)
            {
                words.append(word)
            }
        }
        return words
    }

    // MARK: Reading

    private mutating func readUsage(_ lines: [String]) {
        for line in lines {
            let text = line.trimmed
            if text.hasPrefix("usage: ") {
                usages.append(String(text.dropFirst("usage: ".count)))
            } else if text.hasPrefix("headroom ") || usages.isEmpty {
                usages.append(text)
            } else {
                usages[usages.count - 1] += " " + text
            }
        }
    }

    private static func block(_ lines: [String]) -> Block {
        if lines.contains(where: { $0.hasPrefix("  --") }) { return .options(options(in: lines)) }
        if lines.allSatisfy({ !$0.hasPrefix(" ") }) { return .text(lines.joined(separator: " ")) }
        return .lines(lines)
    }

    private static func options(in lines: [String]) -> [Option] {
        var options: [Option] = []
        // Several options share a description.
        var count = 1
        for line in lines {
            guard line.hasPrefix("  --") else {
                for place in options.indices.suffix(count) {
                    let gap = options[place].description.isEmpty ? "" : " "
                    options[place].description += gap + line.trimmed
                }
                continue
            }
            let text = line.dropFirst(2)
            let end = text.firstRange(of: "  ")?.lowerBound ?? text.endIndex
            let named = text[..<end].split(separator: ", ").map { option in
                let words = option.split(separator: " ", maxSplits: 1).map(String.init)
                return Option(
                    name: words[0], value: words.count > 1 ? words[1] : nil,
                    description: String(text[end...]).trimmed)
            }
            options += named
            count = named.count
        }
        return options
    }

    private static func options(inUsage usage: String) -> [Option] {
        let words = usage.split(separator: " ").map { String($0).trimmingBrackets }
        return words.indices.compactMap { place in
            guard words[place].hasPrefix("--") else { return nil }
            let next = place + 1 < words.count ? words[place + 1] : "|"
            let isValue = !next.hasPrefix("-") && next != "|"
            return Option(name: words[place], value: isValue ? next : nil, description: "")
        }
    }
}

extension String {
    fileprivate var trimmed: String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }

    fileprivate var trimmingBrackets: String { filter { !"[]…()".contains($0) } }
}

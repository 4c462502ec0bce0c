/// `headroom completion`: what a shell offers behind `headroom`, made of the commands' help.
enum CompletionCommand {
    static let help = """
        usage: headroom completion bash|zsh|fish

        Prints a script that completes commands, options and file names:

          bash   source <(headroom completion bash), in ~/.bashrc
          zsh    headroom completion zsh > DIRECTORY/_headroom, for a directory of $fpath
          fish   headroom completion fish > ~/.config/fish/completions/headroom.fish
        """

    static func run(_ arguments: [String]) async throws -> Int32 {
        let arguments = try Arguments(arguments, maxPositionals: 1)
        let pages = CommandTable.pages
        switch arguments.positionals.first {
        case "bash": Terminal.print(bash(pages))
        case "zsh": Terminal.print(zsh(pages))
        case "fish": Terminal.print(fish(pages))
        case let shell?: throw UsageError("\"\(shell)\": must be bash, zsh or fish")
        case nil: throw UsageError("say for which shell: bash, zsh or fish")
        }
        return 0
    }

    /// The first words, each with its summary; a family (`policy check`) stands once.
    private static func firstWords(_ pages: [HelpPage]) -> [(word: String, summary: String)] {
        var words: [(word: String, summary: String)] = []
        for page in pages {
            let word = String(page.name.prefix { $0 != " " })
            let summary = pages.first { $0.name == word }?.summary ?? page.summary
            if !words.contains(where: { $0.word == word }) { words.append((word, summary)) }
        }
        return words
    }

    /// Behind a command: its own words, and the second words of its family.
    private static func nextWords(_ page: HelpPage, _ pages: [HelpPage]) -> [String] {
        page.words
            + pages.filter { $0.name.hasPrefix(page.name + " ") }.map { String($0.name.dropFirst(page.name.count + 1)) }
    }

    /// Longer names first: `audit verify` before `audit`.
    private static func sorted(_ pages: [HelpPage]) -> [HelpPage] {
        pages.sorted { ($1.name.count, $0.name) < ($0.name.count, $1.name) }
    }

    /// First words that are no command of their own, with what follows them.
    private static func families(_ pages: [HelpPage]) -> [(word: String, next: [String])] {
        let names = Set(pages.map(\.name))
        return firstWords(pages).filter { !names.contains($0.word) }.map { first in
            (
                first.word,
                pages.filter { $0.name.hasPrefix(first.word + " ") }.map {
                    String($0.name.dropFirst(first.word.count + 1))
                }
            )
        }
    }

    // MARK: bash

    private static func bash(_ pages: [HelpPage]) -> String {
        var cases: [String] = []
        for page in sorted(pages) {
            var values: [String] = []
            for option in page.options where option.value != nil {
                let reply =
                    if option.isDirectory {
                        "compgen -d -- \"$current\""
                    } else if option.isFile {
                        "compgen -f -- \"$current\""
                    } else {
                        "compgen -W '\(option.choices.joined(separator: " "))' -- \"$current\""
                    }
                values.append("            \(option.name)) COMPREPLY=($(\(reply))); return ;;")
            }
            let words = (page.options.map(\.name) + ["--help"] + nextWords(page, pages)).joined(separator: " ")
            cases.append(
                """
                    \"\(page.name) \"*)
                        case "$previous" in
                \(values.joined(separator: "\n"))
                        esac
                        words='\(words)' ;;
                """)
        }
        for family in families(pages) {
            cases.append("    \"\(family.word) \"*) words='\(family.next.joined(separator: " "))' ;;")
        }
        return """
            # bash completion of headroom, made by "headroom completion bash".
            _headroom() {
                local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} words=
                if ((COMP_CWORD == 1)); then
                    COMPREPLY=($(compgen -W '\((firstWords(pages).map(\.word) + ["help", "--help", "--version"]).joined(separator: " "))' -- "$current"))
                    return
                fi
                case "${COMP_WORDS[*]:1} " in
            \(cases.joined(separator: "\n"))
                esac
                COMPREPLY=($(compgen -W "$words" -- "$current"))
            }
            complete -o default -F _headroom headroom
            """
    }

    // MARK: zsh

    private static func zsh(_ pages: [HelpPage]) -> String {
        func quoted(_ text: String) -> String {
            text.replacing("'", with: "’").replacing("[", with: "(").replacing("]", with: ")").replacing(
                ":", with: "\\:")
        }
        let commands = firstWords(pages).map { "        '\($0.word):\(quoted($0.summary))'" }.joined(separator: "\n")
        var cases: [String] = []
        for page in sorted(pages) {
            var lines = page.options.map { option in
                let text = quoted(String(option.description.prefix(60)))
                guard let value = option.value else { return "            '\(option.name)[\(text)]'" }
                let action =
                    option.isDirectory
                    ? "_files -/"
                    : option.isFile
                        ? "_files" : option.choices.isEmpty ? "" : "(\(option.choices.joined(separator: " ")))"
                return "            '*\(option.name)=[\(text)]:\(quoted(value)):\(action)'"
            }
            let next = nextWords(page, pages)
            lines.append(
                next.isEmpty ? "            '*:file:_files'" : "            '*:word:(\(next.joined(separator: " ")))'")
            let pattern = page.name.replacing(" ", with: "\\ ")
            cases.append("        (\(pattern)\\ *)\n            _arguments \\\n\(lines.joined(separator: " \\\n")) ;;")
        }
        for family in families(pages) {
            cases.append("        (\(family.word)\\ *) _values word \(family.next.joined(separator: " ")) ;;")
        }
        return """
            #compdef headroom
            # zsh completion of headroom, made by "headroom completion zsh".
            _headroom() {
                local -a commands=(
            \(commands)
                )
                if ((CURRENT == 2)); then
                    _describe command commands
                    return
                fi
                case "${words[2]} ${words[3]} " in
            \(cases.joined(separator: "\n"))
                esac
            }
            _headroom "$@"
            """
    }

    // MARK: fish

    private static func fish(_ pages: [HelpPage]) -> String {
        func quoted(_ text: String) -> String {
            "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
        }
        var lines = [
            "# fish completion of headroom, made by \"headroom completion fish\".",
            "function __headroom_is",
            "    string match -q -- \"$argv \"'*' (string join ' ' -- (commandline -opc)[2..])' '",
            "end",
            "complete -c headroom -f",
        ]
        for first in firstWords(pages) {
            lines.append("complete -c headroom -n __fish_use_subcommand -a \(first.word) -d \(quoted(first.summary))")
        }
        for family in families(pages) {
            lines.append(
                "complete -c headroom -n '__headroom_is \(family.word)' -a '\(family.next.joined(separator: " "))'")
        }
        for page in pages {
            let condition = "-n \(quoted("__headroom_is \(page.name)"))"
            for option in page.options {
                var line = "complete -c headroom \(condition) -l \(option.name.dropFirst(2))"
                if option.value != nil { line += " -r" }
                if option.isFile || option.isDirectory { line += " -F" }
                if !option.choices.isEmpty { line += " -a \(quoted(option.choices.joined(separator: " ")))" }
                let text = String(option.description.prefix(60))
                lines.append(text.isEmpty ? line : line + " -d \(quoted(text))")
            }
            let next = nextWords(page, pages)
            if !next.isEmpty {
                lines.append("complete -c headroom \(condition) -a \(quoted(next.joined(separator: " ")))")
            }
            if page.usages.contains(where: { $0.contains("FILE") || $0.contains("DIR") }) {
                lines.append("complete -c headroom \(condition) -F")
            }
        }
        return lines.joined(separator: "\n")
    }
}

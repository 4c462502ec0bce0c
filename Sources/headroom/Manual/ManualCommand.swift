import Foundation

/// `headroom man`: manual pages in roff, made of the commands' help.
enum ManualCommand {
    static let help = """
        usage: headroom man [COMMAND]
               headroom man --directory DIR

        Prints the manual page of headroom, or of one of its commands, for man: headroom man serve | man -l -

          --directory DIR   writes all pages into DIR, as headroom.1 and headroom-serve.1
        """

    static func run(_ arguments: [String]) async throws -> Int32 {
        let arguments = try Arguments(arguments, options: ["--directory": "DIR"], maxPositionals: 2)
        let pages = CommandTable.pages
        if let directory = arguments["--directory"] {
            guard arguments.positionals.isEmpty else { throw UsageError("--directory writes all pages; name none") }
            try write(overview(pages), to: "\(directory)/headroom.1")
            for page in pages { try write(text(page), to: "\(directory)/\(fileName(page)).1") }
            return 0
        }
        guard !arguments.positionals.isEmpty else {
            Terminal.print(overview(pages))
            return 0
        }
        let name = arguments.positionals.joined(separator: " ")
        guard let page = pages.first(where: { $0.name == name }) else {
            throw UsageError("there is no command \"\(name)\"; \"headroom --help\" lists them")
        }
        Terminal.print(text(page))
        return 0
    }

    private static func write(_ text: String, to path: String) throws(CommandError) {
        do {
            try Data((text + "\n").utf8).write(to: URL(filePath: path))
        } catch {
            throw CommandError("\(path): cannot be written: name a directory that exists and that you may write to")
        }
    }

    private static func fileName(_ page: HelpPage) -> String { "headroom-" + page.name.replacing(" ", with: "-") }

    // MARK: roff

    private static func heading(_ name: String, _ summary: String) -> [String] {
        [
            ".TH \(escaped(name.uppercased())) 1 \"\" \"headroom \(CommandTable.version)\" \"Headroom\"", ".nh",
            ".SH NAME", "\(escaped(name)) \\- \(escaped(summary))", ".SH SYNOPSIS",
        ]
    }

    private static func overview(_ pages: [HelpPage]) -> String {
        var lines = heading("headroom", "renegotiates per-tenant LLM quotas all the time")
        lines += ["\\fBheadroom\\fR COMMAND [OPTIONS]", ".SH COMMANDS"]
        for page in pages {
            lines += [
                ".TP", "\\fB\(escaped(page.name))\\fR",
                escaped(page.summary) + "; \\fB\(escaped(fileName(page)))\\fR(1)",
            ]
        }
        lines += [".SH ENVIRONMENT"]
        for (name, text) in [
            ("HEADROOM_URL", "the service that commands talk to"), ("HEADROOM_TOKEN", "the token for it"),
            ("NO_COLOR", "no colours, whatever its value, unless --color always asks for them"),
        ] {
            lines += [".TP", "\\fB\(name)\\fR", escaped(text)]
        }
        return (lines + status).joined(separator: "\n")
    }

    private static let status = [".SH EXIT STATUS", "0 done, 1 failed, 2 wrong usage."]

    private static func text(_ page: HelpPage) -> String {
        var lines = heading(fileName(page), page.summary)
        for usage in page.usages { lines += ["\(escaped(usage))", ".br"] }
        lines.append(".SH DESCRIPTION")
        for block in page.blocks {
            switch block {
            case .text(let text): lines += [".PP", escaped(text)]
            case .lines(let kept): lines += [".PP", ".nf"] + kept.map(escaped) + [".fi"]
            case .options(let options):
                for option in options {
                    let value = option.value.map { " \\fI\(escaped($0))\\fR" } ?? ""
                    lines += [".TP", "\\fB\(escaped(option.name))\\fR\(value)", escaped(option.description)]
                }
            }
        }
        return (lines + status + [".SH SEE ALSO", "\\fBheadroom\\fR(1)"]).joined(separator: "\n")
    }

    /// Nothing in it is taken for a request or an escape.
    private static func escaped(_ text: String) -> String {
        let safe = text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
        return safe.hasPrefix(".") || safe.hasPrefix("'") ? "\\&" + safe : safe
    }
}

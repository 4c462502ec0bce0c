import Foundation
import Testing

/// Completions and manual pages are made of the commands' help.
@Suite struct ManualTests {
    private static func commands() async throws -> [String] {
        try await HeadroomProgram.run("--help").output.split(separator: "\n").filter { $0.hasPrefix("  ") }
            .map { String($0.dropFirst(2).split(separator: "  ")[0]) }
    }

    @Test func `each command's help names the options that it takes, and no others`() async throws {
        for command in try await Self.commands() {
            let words = command.split(separator: " ").map(String.init)
            let outcome = try await HeadroomProgram.run(words + ["--no-such-option"])
            // "known are --a, --b FILE; did you mean …"
            guard let start = outcome.errors.firstRange(of: "known are ")?.upperBound else { continue }
            let list = outcome.errors[start...].prefix { $0 != ";" && $0 != "\n" }
            let known = Set(list.split(separator: ", ").map { String($0.prefix { $0 != " " }) })
            let help = try await HeadroomProgram.run(words + ["--help"]).output
            let named = Set(help.matches(of: /--[a-z][a-z-]*/).map { String($0.output) })
            #expect(known.subtracting(named) == [], "\(command): not in its help")
        }
    }

    @Test func `bash completes commands, words, options and legal values`() async throws {
        let script = try await HeadroomProgram.run("completion", "bash")
        #expect(script.code == 0 && script.errors == "")
        let directory = TemporaryDirectory()
        let path = try directory.write(script.output, to: "completion.bash")
        let cases: [(typed: [String], offered: Set<String>)] = [
            (["ser"], ["serve"]), (["pol"], ["policy"]), (["policy", ""], ["check"]),
            (["audit", "ver"], ["verify"]), (["token", "cr"], ["create"]),
            (["serve", "--tls-c"], ["--tls-certificate"]), (["serve", "--log", ""], ["text", "json"]),
            (["simulate", "scoreboard", "--qu"], ["--quick"]), (["report", "st"], ["starvation"]),
            (["completion", "b"], ["bash"]), (["tenants", "import", "--format", "c"], ["csv"]),
        ]
        let calls = cases.map { typed, _ in
            let words = (["headroom"] + typed).map { "'\($0)'" }.joined(separator: " ")
            return "COMP_WORDS=(\(words)); COMP_CWORD=\(typed.count); COMPREPLY=(); _headroom; echo \"${COMPREPLY[*]}\""
        }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["-c", "source '\(path)'\n" + calls.joined(separator: "\n")]
        let output = try directory.write("", to: "output")
        process.standardOutput = FileHandle(forWritingAtPath: output)
        let end = try HeadroomProgram.start(process)
        #expect(await blocking { end.wait(seconds: 30) } == 0)
        let lines = try String(contentsOfFile: output, encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false)
        for ((typed, offered), line) in zip(cases, lines) {
            #expect(Set(line.split(separator: " ").map(String.init)) == offered, "\(typed): \(line)")
        }
    }

    @Test func `the other shells' scripts and the manual have every command`() async throws {
        let commands = try await Self.commands()
        #expect(commands.count > 20)
        let directory = TemporaryDirectory()
        try directory.write("", to: "man/empty")
        let written = try await HeadroomProgram.run("man", "--directory", directory.file("man"))
        #expect(written.code == 0, "\(written.errors)")
        let zsh = try await HeadroomProgram.run("completion", "zsh").output
        let fish = try await HeadroomProgram.run("completion", "fish").output
        let overview = try String(contentsOfFile: directory.file("man/headroom.1"), encoding: .utf8)
        for command in commands {
            let name = "headroom-" + command.replacing(" ", with: "-")
            let page = try String(contentsOfFile: directory.file("man/\(name).1"), encoding: .utf8)
            #expect(page.hasPrefix(".TH \(name.uppercased().replacing("-", with: "\\-")) 1 "), "\(page.prefix(80))")
            #expect(overview.contains("\\fB\(command.replacing("-", with: "\\-"))\\fR"))
            #expect(zsh.contains("(\(command.replacing(" ", with: "\\ "))\\ *)"), "\(command)")
            #expect(fish.contains("__headroom_is \(command)") || !page.contains("\\fB\\-\\-"), "\(command)")
        }
        let unknown = try await HeadroomProgram.run("man", "serv")
        #expect(unknown.code == 2 && unknown.errors.contains("there is no command \"serv\""))
    }
}

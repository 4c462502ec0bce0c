import Foundation
import Glibc
import Testing

/// Colour where a person reads, and nowhere else.
@Suite struct ColorTests {
    private static let escape = "\u{1B}["

    @Test func `files and pipes get no colour, unless it is asked for`() async throws {
        let directory = TemporaryDirectory()
        let rules = try directory.write("{ nme: 1 }", to: "policies/rules.json5")
        let path = (rules as NSString).deletingLastPathComponent
        for (words, environment, isColoured) in [
            ([], [:], false), (["--color", "auto"], [:], false), (["--color=always"], [:], true),
            (["--color", "never"], [:], false), (["--color", "always"], ["NO_COLOR": "1"], true),
        ] as [([String], [String: String], Bool)] {
            let outcome = try await HeadroomProgram.run(
                ["policy", "check", path] + words, environment: environment)
            #expect(outcome.code == 1 && outcome.errors.contains("unknown key"), "\(words): \(outcome.errors)")
            #expect(outcome.errors.contains(Self.escape) == isColoured, "\(words): \(outcome.errors)")
        }
        let first = try await HeadroomProgram.run("--color", "always", "policy", "check", path)
        #expect(first.code == 1 && first.errors.contains(Self.escape))
        for words in [["--color", "pink"], ["--color"]] {
            let wrong = try await HeadroomProgram.run(["status"] + words)
            #expect(wrong.code == 2 && wrong.errors.contains("one of auto, always, never"), "\(wrong.errors)")
        }
    }

    @Test func `a terminal gets colour, unless NO_COLOR is set`() async throws {
        let house = try House()
        let made = try await HeadroomProgram.run(
            "tenants", "import", "-", "--format", "csv", "--database", house.database, input: "tenant\nacme\n")
        #expect(made.code == 0, "\(made.errors)")
        for (environment, words, isColoured) in [
            // The program that runs the tests may have set NO_COLOR.
            (["TERM": "xterm", "NO_COLOR": ""], [], true), (["TERM": "xterm", "NO_COLOR": "1"], [], false),
            (["TERM": "dumb", "NO_COLOR": ""], [], false),
            (["TERM": "xterm", "NO_COLOR": ""], ["--color", "never"], false),
        ] as [([String: String], [String], Bool)] {
            let text = try await Self.runAtTerminal(
                ["tenants", "list", "--database", house.database] + words, environment)
            #expect(text.contains("acme"), "\(text)")
            #expect(text.contains(Self.escape) == isColoured, "\(environment) \(words): \(text.debugDescription)")
            // The columns stand where they stood.
            let plain = text.replacing(/\u{1B}\[[0-9]*m/, with: "")
            #expect(plain.hasPrefix("TENANT  TIER       STRATEGIC  POOL"), "\(plain)")
        }
    }

    /// Of pseudo-terminals, TIOCSPTLCK and TIOCGPTN: macros that Swift does not see.
    private static let unlock: UInt = 0x4004_5431
    private static let getNumber: UInt = 0x8004_5430

    /// Runs with a terminal as standard output; what it wrote.
    private static func runAtTerminal(_ arguments: [String], _ environment: [String: String]) async throws -> String {
        let directory = TemporaryDirectory()
        return try await blocking {
            Result {
                let terminal = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
                defer { close(terminal) }
                var number: CInt = -1
                var lock: CInt = 0
                guard terminal >= 0, unsafe ioctl(terminal, Self.unlock, &lock) == 0,
                    unsafe ioctl(terminal, Self.getNumber, &number) == 0
                else { throw RunningService.Failure(text: "no terminal") }
                let process = HeadroomProgram.makeProcess(arguments, in: directory, environment: environment)
                process.standardInput = FileHandle.nullDevice
                let screen = FileHandle(forWritingAtPath: "/dev/pts/\(number)")
                process.standardOutput = screen
                process.standardError = FileHandle.nullDevice
                let end = try HeadroomProgram.start(process)
                try screen?.close()
                // A few lines, which the terminal holds until they are read.
                _ = end.wait(seconds: 60)
                var text: [UInt8] = []
                var buffer = [UInt8](repeating: 0, count: 65_536)
                while true {
                    // The other end is closed: EIO behind what was written.
                    let count = unsafe read(terminal, &buffer, buffer.count)
                    guard count > 0 else { return String(decoding: text, as: UTF8.self) }
                    text += buffer[..<count]
                }
            }
        }.get()
    }
}

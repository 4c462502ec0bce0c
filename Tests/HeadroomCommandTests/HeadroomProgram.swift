import Foundation
import Glibc
import Synchronization

/// The built `headroom`, run as its users run it.
enum HeadroomProgram {
    /// What a run that has ended left behind.
    struct Outcome: Sendable {
        let code: Int32
        let output: String
        /// Standard error.
        let errors: String
    }

    /// Beside the test bundle, where the build puts every product.
    private static let path =
        (URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path as NSString)
        .deletingLastPathComponent + "/headroom"

    /// Longer than any command or wait takes, so that a test which waits in vain fails and does not hang. A sanitizer makes all
    /// of it slower, and stretches it.
    static let patienceSeconds =
        60 * (ProcessInfo.processInfo.environment["HEADROOM_TEST_SLOWNESS"].flatMap(Double.init) ?? 1)

    /// Runs to the end. The working directory is empty, and goes afterwards.
    static func run(
        _ arguments: String..., input: String = "", outputPath: String? = nil, environment: [String: String] = [:]
    ) async throws -> Outcome {
        try await run(arguments, input: input, outputPath: outputPath, environment: environment)
    }

    static func run(
        _ arguments: [String], input: String = "", outputPath: String? = nil, environment: [String: String] = [:]
    ) async throws -> Outcome {
        // Files and not pipes: a pipe that another test's process inherits does not end with this one's.
        let directory = TemporaryDirectory()
        let input = try directory.write(input, to: "input")
        let output = try directory.write("", to: "output")
        let errors = try directory.write("", to: "errors")
        return try await blocking {
            Result {
                let process = makeProcess(arguments, in: directory, environment: environment)
                process.standardInput = FileHandle(forReadingAtPath: input)
                process.standardOutput = FileHandle(forWritingAtPath: outputPath ?? output)
                process.standardError = FileHandle(forWritingAtPath: errors)
                let code = try start(process).wait(seconds: patienceSeconds)
                return Outcome(
                    code: code, output: try String(contentsOfFile: output, encoding: .utf8),
                    errors: try String(contentsOfFile: errors, encoding: .utf8))
            }
        }.get()
    }

    /// Runs to the end with a standard output that nobody reads any more.
    static func runIntoClosedPipe(_ arguments: String...) async throws -> Outcome {
        let directory = TemporaryDirectory()
        let errors = try directory.write("", to: "errors")
        return try await blocking {
            Result {
                let process = makeProcess(arguments, in: directory)
                let output = Pipe()
                process.standardInput = FileHandle.nullDevice
                process.standardOutput = output
                process.standardError = FileHandle(forWritingAtPath: errors)
                try output.fileHandleForReading.close()
                let code = try start(process).wait(seconds: patienceSeconds)
                return Outcome(code: code, output: "", errors: try String(contentsOfFile: errors, encoding: .utf8))
            }
        }.get()
    }

    static func makeProcess(
        _ arguments: [String], in directory: TemporaryDirectory, environment: [String: String] = [:]
    ) -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.currentDirectoryURL = URL(fileURLWithPath: directory.path)
        // The settings of the person who runs the tests are not for them.
        process.environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("HEADROOM_") }
            .merging(environment) { $1 }
        return process
    }

    /// One process is started at a time: what is open for one must not be inherited by another.
    private static let starting = Mutex(())

    static func start(_ process: Process) throws -> ProcessEnd {
        let end = ProcessEnd(process)
        try starting.withLock { _ in try process.run() }
        return end
    }
}

/// The end of a process, to wait for.
final class ProcessEnd: Sendable {
    private let process: Process
    private let ended = DispatchSemaphore(value: 0)

    fileprivate init(_ process: Process) {
        self.process = process
        process.terminationHandler = { [ended] _ in ended.signal() }
    }

    func send(_ signal: Int32) {
        if process.isRunning { kill(process.processIdentifier, signal) }
    }

    /// The exit code, or the signal that ended it. Kills the process when it has not ended by then. Blocks. Once.
    func wait(seconds: Double) -> Int32 {
        if ended.wait(timeout: .now() + seconds) == .timedOut {
            send(SIGKILL)
            ended.wait()
        }
        return process.terminationStatus
    }
}

/// Runs what may block off the cooperative threads.
func blocking<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: body()) }
    }
}

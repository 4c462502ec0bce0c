import Foundation

/// This program once more, as a client in a process of its own: its processor time is not the server's.
enum LoadProcess {
    struct Fault: Error, CustomStringConvertible {
        let arguments: [String]
        let output: String

        var description: String { "the client \(arguments.prefix(4)) failed and printed: \(output)" }
    }

    /// Runs to the end, and returns the numbers that the client printed.
    /// - Parameter count: of numbers; any other count is a failure of the client.
    static func numbers(_ arguments: [String], count: Int) throws -> [Double] {
        let client = Process()
        client.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        client.arguments = arguments
        let output = Pipe()
        client.standardOutput = output
        try client.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        client.waitUntilExit()
        let numbers = text.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
        guard client.terminationStatus == 0, numbers.count == count else {
            throw Fault(arguments: arguments, output: text)
        }
        return numbers
    }
}

/// User and system time of this process so far. While a client process runs and the main thread waits, all of it is the
/// server's.
func ownProcessorSeconds() -> Double {
    var usage = rusage()
    unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return [usage.ru_utime, usage.ru_stime].reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) * 1e-6 }
}

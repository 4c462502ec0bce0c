import Glibc

/// The freed memory that the allocator keeps: after a peak, a tick's results of many tenants say, a third of the process.
enum FreedMemory {
    /// Between two times. The next tick takes pages anew, which costs it some tens of milliseconds where there are most.
    static let seconds = 60

    /// Back to the system, by malloc_trim(3): only glibc has it, and its module does not show it. Elsewhere nothing happens.
    static func giveBack() {
        typealias Trim = @convention(c) (Int) -> Int32
        guard let symbol = unsafe dlsym(nil, "malloc_trim") else { return }
        _ = unsafe unsafeBitCast(symbol, to: Trim.self)(0)
    }
}

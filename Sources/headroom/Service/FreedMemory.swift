import Foundation
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

    /// Keeps freed memory from lying idle, by mallopt(3). Call it before there are many threads.
    ///
    /// All threads share two heaps. With the usual eight a core, what a tick frees on one thread is of no use when the next
    /// runs on another. Large lists, as a generation's, are outside of them and go back at once: the allocator moves the
    /// bound up with each large one that it is given back, and then keeps them all. Both together are a third of the process.
    static func spare() {
        typealias Option = @convention(c) (CInt, CInt) -> CInt
        guard let symbol = unsafe dlsym(nil, "mallopt") else { return }
        let set = unsafe unsafeBitCast(symbol, to: Option.self)
        _ = set(maxHeaps, 2)
        _ = set(largeBytes, 256 << 10)
    }

    /// `M_ARENA_MAX` and `M_MMAP_THRESHOLD`.
    private static let (maxHeaps, largeBytes): (CInt, CInt) = (-8, -3)
}

/// The memory of this process that is not swapped out.
enum ResidentMemory {
    /// By the second number of /proc/self/statm, in pages; `nil` on a system without that file.
    static var bytes: Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return nil }
        let numbers = text.split(separator: " ")
        return numbers.count > 1 ? Int(numbers[1]).map { $0 * sysconf(Int32(_SC_PAGESIZE)) } : nil
    }
}

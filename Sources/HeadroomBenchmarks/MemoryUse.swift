import Glibc

/// This process' memory.
struct MemoryUse {
    /// Asked of the allocator and not given back to it.
    var allocated: Int
    /// With what the allocator keeps for later: after a peak, holes between what is left.
    var resident: Int

    static var now: MemoryUse { MemoryUse(allocated: allocatedBytes(), resident: residentBytes()) }

    static func - (left: MemoryUse, right: MemoryUse) -> MemoryUse {
        MemoryUse(allocated: left.allocated - right.allocated, resident: left.resident - right.resident)
    }

    /// As the service does once a minute, by malloc_trim(3).
    static func giveBackFreed() {
        typealias Trim = @convention(c) (Int) -> Int32
        guard let symbol = unsafe dlsym(nil, "malloc_trim") else { return }
        _ = unsafe unsafeBitCast(symbol, to: Trim.self)(0)
    }

    private static func residentBytes() -> Int { residentBytes(of: getpid()) }

    /// The second number of statm, in pages; 0 when there is no such process.
    static func residentBytes(of process: pid_t) -> Int {
        guard let file = unsafe fopen("/proc/\(process)/statm", "r") else { return 0 }
        defer { unsafe fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 128)
        let count = unsafe fread(&bytes, 1, bytes.count, file)
        let numbers = String(decoding: bytes[..<count], as: UTF8.self).split(separator: " ")
        return numbers.count > 1 ? (Int(numbers[1]) ?? 0) * sysconf(Int32(_SC_PAGESIZE)) : 0
    }

    /// By malloc_info(3), which the C library's module does not show: what it had of the system, less what is free. The
    /// report's last lines are the sums of all heaps.
    private static func allocatedBytes() -> Int {
        typealias Report = @convention(c) (Int32, UnsafeMutablePointer<FILE>) -> Int32
        var text: UnsafeMutablePointer<CChar>?
        var size = 0
        guard let symbol = unsafe dlsym(nil, "malloc_info"), let stream = unsafe open_memstream(&text, &size) else {
            return 0
        }
        _ = unsafe unsafeBitCast(symbol, to: Report.self)(0, stream)
        unsafe fclose(stream)
        guard let text = unsafe text else { return 0 }
        defer { unsafe free(text) }
        let sums = unsafe String(cString: text).split(separator: "\n").suffix(9)
        func bytes(_ kind: Substring) -> Int {
            sums.first { $0.contains(kind) }.flatMap { line in
                line.split(separator: "size=\"").last.flatMap { Int($0.prefix { $0 != "\"" }) }
            } ?? 0
        }
        return bytes("system type=\"current\"") + bytes("total type=\"mmap\"") - bytes("total type=\"fast\"")
            - bytes("total type=\"rest\"")
    }
}

import Glibc

/// Chosen once a process.
private let target = FuzzTarget.named(unsafe getenv("HEADROOM_FUZZ_TARGET").map { unsafe String(cString: $0) })

/// The function that libFuzzer calls with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // The bytes belong to libFuzzer, and only during the call.
    target.run(unsafe Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}

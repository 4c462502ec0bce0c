/// Four lanes that are stored as two halves and used as one vector.
///
/// A struct that holds a whole vector is aligned to 32 bytes or more, and Swift 6.3 misplaces such a struct in the frame
/// of an async function that returns it or keeps it over an `await`: fields come back as garbage
/// (https://github.com/swiftlang/swift/issues/91639). Halves need 16, as everything else that is allocated. The fix is in
/// LLVM (https://github.com/swiftlang/llvm-project/pull/14048, merged in September 2026): this type goes when
/// `Package.swift` asks for the first release of Swift that has it.
@propertyWrapper
public struct Halved: Equatable, Sendable {
    private var low: SIMD2<Double>
    private var high: SIMD2<Double>

    public init(wrappedValue: SIMD4<Double>) {
        low = wrappedValue.lowHalf
        high = wrappedValue.highHalf
    }

    public var wrappedValue: SIMD4<Double> {
        @inline(__always) get { SIMD4(lowHalf: low, highHalf: high) }
        @inline(__always) set {
            low = newValue.lowHalf
            high = newValue.highHalf
        }
    }

    public static func == (left: Halved, right: Halved) -> Bool { left.low == right.low && left.high == right.high }
}

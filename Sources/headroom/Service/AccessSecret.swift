import Foundation

/// The secrets of new tokens.
enum AccessSecret {
    /// 256 bits of the system's random source as `hr_` and base64url.
    static func make() -> String {
        var source = SystemRandomNumberGenerator()
        let bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &source) }
        let text = Data(bytes).base64EncodedString()
        return "hr_" + String(text.filter { $0 != "=" }.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
    }
}

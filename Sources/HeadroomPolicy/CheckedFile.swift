import HeadroomJSON

/// A file that people wrote while it is read: where each key stands, and what is wrong so far.
final class CheckedFile {
    let path: String
    let bytes: [UInt8]
    private var faults: [(code: PolicyFault.Code, key: String, offset: Int?, message: String)] = []
    private let notesPlaces: Bool
    private var offsets: [String: Int] = [:]
    private var refusedNumbers: [Int: String] = [:]

    /// - Parameter notesPlaces: whether faults found later can be reported by key alone; costs memory for each value.
    init(path: String, bytes: [UInt8], notesPlaces: Bool = true) {
        self.path = path
        self.bytes = bytes
        self.notesPlaces = notesPlaces
    }

    /// The document's object, by JSON5; `nil`, and a fault, when there is none.
    func parse() -> CheckedObject? {
        do throws(JSONError) {
            let document = try TolerantDocument(parsing: bytes)
            for key in document.repeatedKeys {
                report(.duplicateKey, key: key.path, offset: key.offset, "this key stands twice: remove one")
            }
            refusedNumbers = document.refusedNumbers
            return CheckedObject(document.root, key: "", file: self)
        } catch {
            report(.syntax, key: "", offset: error.offset, error.message)
            return nil
        }
    }

    func note(key: String, offset: Int) {
        if notesPlaces { offsets[key] = offset }
    }

    /// Why the number at `offset` was refused; `nil` when it stands as it was written.
    func refusal(ofNumberAt offset: Int) -> String? { refusedNumbers[offset] }

    /// In `key`, in what it holds, or in what holds it.
    func hasFault(in key: String) -> Bool {
        faults.contains { CheckedFile.holds($0.key, key) || CheckedFile.holds(key, $0.key) }
    }

    private static func holds(_ outer: String, _ inner: String) -> Bool {
        guard inner.hasPrefix(outer) else { return false }
        let next = inner.utf8.dropFirst(outer.utf8.count).first
        return outer.isEmpty || next == nil || next == UInt8(ascii: ".") || next == UInt8(ascii: "[")
    }

    func report(_ code: PolicyFault.Code, key: String, offset: Int?, _ message: String) {
        faults.append((code, key, offset, message))
    }

    /// At the place of the first of `keys` that the file states, or of the document where it states none.
    func report(_ code: PolicyFault.Code, key: String, atFirstOf keys: [String], _ message: String) {
        let place = keys.lazy.compactMap { self.offsets[$0] }.first
        report(code, key: key, offset: place ?? offsets[""], message)
    }

    /// The faults in the order in which they stand in the file.
    func located() -> [PolicyFault] {
        let sorted = faults.sorted { ($0.offset ?? -1, $0.key) < ($1.offset ?? -1, $1.key) }
        let places = LineWalk.positions(of: sorted.map { $0.offset ?? 0 }, in: bytes)
        return zip(sorted, places).map { fault, place in
            PolicyFault(
                fault.code, file: path, line: fault.offset.map { _ in place.line },
                column: fault.offset.map { _ in place.column }, key: fault.key, fault.message)
        }
    }
}

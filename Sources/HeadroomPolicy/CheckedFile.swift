import HeadroomJSON

/// A file that people wrote while it is read: where each key stands, and what is wrong so far.
final class CheckedFile {
    let path: String
    let bytes: [UInt8]
    private var faults: [(code: PolicyFault.Code, key: String, offset: Int?, message: String)] = []
    private let notesPlaces: Bool
    private var offsets: [String: Int] = [:]
    private var refusedNumbers: [Int: String] = [:]
    /// Values that could not be read and stand as null: nothing else is wrong with them.
    private var lost: Set<String> = []
    /// Objects and lists of which a part could not be read: nothing is missing in them.
    private var incompleteObjects: Set<String> = []
    private var incompleteLists: Set<String> = []
    /// Places of breaches of the grammar that lost no value.
    private var harmless: Set<Int> = []

    /// - Parameter notesPlaces: whether faults found later can be reported by key alone; costs memory for each value.
    init(path: String, bytes: [UInt8], notesPlaces: Bool = true) {
        self.path = path
        self.bytes = bytes
        self.notesPlaces = notesPlaces
    }

    /// The document's object, by JSON5, as far as it can be read; `nil`, and a fault, when there is none.
    func parse() -> CheckedObject? {
        var reader = TolerantReader(bytes, dialect: .json5)
        let root = reader.document()
        take(&reader)
        return CheckedObject(root, key: "", file: self)
    }

    /// Reports what `reader` has found since the last time, and knows from then on which values it could not read.
    func take(_ reader: inout TolerantReader) {
        let found = reader.takeFindings()
        for breach in found.breaches {
            report(.syntax, key: breach.path, offset: breach.offset, breach.message)
            if breach.isHarmless { harmless.insert(breach.offset) }
        }
        for key in found.repeatedKeys {
            report(.duplicateKey, key: key.path, offset: key.offset, "this key stands twice: remove one")
        }
        refusedNumbers.merge(found.refusedNumbers) { $1 }
        lost.formUnion(found.lost)
        incompleteObjects.formUnion(found.incompleteObjects)
        incompleteLists.formUnion(found.incompleteLists)
    }

    /// A part of the object or list at `key` could not be read.
    func isIncomplete(_ key: String) -> Bool { incompleteObjects.contains(key) || incompleteLists.contains(key) }

    func note(key: String, offset: Int) {
        if notesPlaces { offsets[key] = offset }
    }

    /// Why the number at `offset` was refused; `nil` when it stands as it was written.
    func refusal(ofNumberAt offset: Int) -> String? { refusedNumbers[offset] }

    /// In `key`, in what it holds, or in what holds it. Also where it may be among what could not be read: in a list of which
    /// a part is missing, or absent from such an object.
    func hasFault(in key: String) -> Bool {
        if incompleteLists.contains(where: { CheckedFile.holds($0, key) }) { return true }
        if offsets[key] == nil, incompleteObjects.contains(where: { CheckedFile.holds($0, key) }) { return true }
        return faults.contains { fault in
            !(fault.code == .syntax && fault.offset.map(harmless.contains) ?? false)
                && (CheckedFile.holds(fault.key, key) || CheckedFile.holds(key, fault.key))
        }
    }

    private static func holds(_ outer: String, _ inner: String) -> Bool {
        guard inner.hasPrefix(outer) else { return false }
        let next = inner.utf8.dropFirst(outer.utf8.count).first
        return outer.isEmpty || next == nil || next == UInt8(ascii: ".") || next == UInt8(ascii: "[")
    }

    func report(_ code: PolicyFault.Code, key: String, offset: Int?, _ message: String) {
        guard !lost.contains(key) else { return }
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

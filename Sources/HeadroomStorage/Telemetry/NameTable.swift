import HeadroomModel

/// The kind of thing that a name names; the raw value is the column `kind` of the table `name`.
enum NameKind: Int, CaseIterable {
    case tenant, pool, gateway, model, endpoint, provider, taskKind
}

/// Numbers for texts that rows repeat, so that a row holds a byte or two in place of a name. For the writer.
final class NameTable {
    /// A line's name is mostly that of the line before: comparing is cheaper than hashing.
    private struct Latest {
        var text = ""
        var id: Int64 = 0
    }

    /// Names kept in memory per kind; more than that are read from the table again.
    private static let maxCached = 200_000

    private let find: SQLStatement
    private let add: SQLStatement
    private let connection: SQLConnection
    private var ids: [[String: Int64]]
    private var latest: [Latest]
    /// Those added in the present transaction.
    private var added: [(kind: NameKind, text: String)] = []
    /// The state of the table that ``ids`` was read at.
    private var erasures: Int64 = 0

    init(connection: SQLConnection) throws(StorageError) {
        self.connection = connection
        find = try connection.statement("SELECT id FROM name WHERE kind = :kind AND text = :text")
        add = try connection.statement("INSERT INTO name (kind, text) VALUES (:kind, :text) RETURNING id")
        ids = NameKind.allCases.map { _ in [:] }
        latest = NameKind.allCases.map { _ in Latest() }
    }

    /// Once a transaction, before the first name: a tenant that was erased since, here or by another process, is a new one.
    func begin() throws(StorageError) {
        let counter = try ChangeCounter.erasures.read(connection)
        guard counter != erasures else { return }
        ids = NameKind.allCases.map { _ in [:] }
        latest = NameKind.allCases.map { _ in Latest() }
        erasures = counter
    }

    /// The number of `text`, which is entered if it is new. Inside a transaction.
    func id(of text: String, _ kind: NameKind) throws(StorageError) -> Int64 {
        let lane = kind.rawValue
        if latest[lane].id != 0 && latest[lane].text == text { return latest[lane].id }
        let id: Int64
        if let known = ids[lane][text] { id = known } else { id = try store(text, kind) }
        latest[lane] = Latest(text: text, id: id)
        return id
    }

    func optionalID(of text: String?, _ kind: NameKind) throws(StorageError) -> Int64? {
        guard let text else { return nil }
        return try id(of: text, kind)
    }

    /// The transaction was committed.
    func keepAdded() {
        added.removeAll(keepingCapacity: true)
    }

    /// The transaction was rolled back, and with it the names that it entered.
    func forgetAdded() {
        for (kind, text) in added { ids[kind.rawValue][text] = nil }
        added.removeAll()
        for lane in latest.indices { latest[lane] = Latest() }
    }

    private func store(_ text: String, _ kind: NameKind) throws(StorageError) -> Int64 {
        if ids[kind.rawValue].count >= NameTable.maxCached { ids[kind.rawValue].removeAll() }
        find.bind(":kind", Int64(kind.rawValue)).bind(":text", text)
        if let id = try find.first({ $0.integer(0) }) {
            ids[kind.rawValue][text] = id
            return id
        }
        let id = try add.bind(":kind", Int64(kind.rawValue)).bind(":text", text).runForID()
        ids[kind.rawValue][text] = id
        added.append((kind, text))
        return id
    }
}

/// Texts for the numbers in rows. For a reader.
final class NameReader {
    private static let maxCached = 500_000

    private let find: SQLStatement
    private var texts: [Int64: String] = [:]

    init(connection: SQLConnection) throws(StorageError) {
        find = try connection.statement("SELECT text FROM name WHERE id = :id")
    }

    func text(_ id: Int64) throws(StorageError) -> String {
        if let known = texts[id] { return known }
        guard let text = try find.bind(":id", id).first({ $0.text(0) }) else {
            throw StorageError(code: .corrupt, message: "a row of telemetry names number \(id), which has no name")
        }
        if texts.count >= NameReader.maxCached { texts.removeAll() }
        texts[id] = text
        return text
    }

    func optionalText(_ id: Int64?) throws(StorageError) -> String? {
        guard let id else { return nil }
        return try text(id)
    }
}

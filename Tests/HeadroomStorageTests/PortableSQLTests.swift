import Foundation
import HeadroomModel
import HeadroomStorage
import Testing

/// The statements of the stores have one text for each engine; what only SQLite understands is in its own folder.
@Suite struct PortableSQLTests {
    private static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    /// Folders of `Sources/HeadroomStorage` that belong to one engine.
    private static let engines = ["SQLite", "PostgreSQL"]

    /// What other engines do not know, by a pattern, and what says the same everywhere.
    private static let constructs: [(pattern: String, remedy: String)] = [
        (#"\bOR (REPLACE|IGNORE|ABORT|FAIL|ROLLBACK)\b"#, "ON CONFLICT (key) DO UPDATE, or DO NOTHING"),
        (#"\bREPLACE INTO\b"#, "ON CONFLICT (key) DO UPDATE"),
        (#"\bON CONFLICT DO UPDATE\b"#, "the key in parentheses"),
        (#"\b(\w+) = \1 [+-] excluded\."#, "the table's name before the column"),
        (#"\bifnull\("#, "coalesce"),
        (#"\biif\("#, "CASE"),
        (#"\btotal\("#, "coalesce(sum(…), 0)"),
        (#"\b(min|max)\([^()]*(\([^()]*\)[^()]*)*,"#, "CASE, or two comparisons"),
        (#"\b(instr|json_quote|printf|group_concat|typeof|hex|zeroblob|randomblob|strftime|julianday)\("#, "Swift"),
        (#"\bGLOB\b"#, "LIKE"),
        (#"\bIS (NOT )?:"#, "coalesce on both sides"),
        (#"\b(sqlite_\w+|pragma_\w+|PRAGMA|rowid|AUTOINCREMENT|STRICT)\b"#, "the folder SQLite"),
        (#"\bCROSS JOIN \w+ ON\b"#, "the condition in WHERE"),
        (#"\b(FROM|INTO|UPDATE) freeze\b"#, #""freeze""#),
        // Of integers it is no integer everywhere; columns of seconds are no integers.
        (#"(SELECT|,) sum\((?!\w+_s\))"#, "CAST(sum(…) AS BIGINT)"),
    ]

    @Test func `statements outside the engines' folders say nothing that only SQLite understands`() throws {
        let statements = try Self.statements()
        #expect(statements.count > 200, "the statements were not found")
        for (place, sql) in statements {
            for (pattern, remedy) in Self.constructs {
                let found = try Regex(pattern).firstMatch(in: sql).map { String(sql[$0.range]) }
                #expect(found == nil, "\(place): \(found ?? "") is SQLite's own; write \(remedy)")
            }
        }
    }

    @Test(arguments: [
        "INSERT OR REPLACE INTO t (a) VALUES (:a)", "INSERT OR IGNORE INTO t (a) VALUES (:a)",
        "INSERT INTO t (a) VALUES (:a) ON CONFLICT DO UPDATE SET a = excluded.a",
        "INSERT INTO t (a) VALUES (:a) ON CONFLICT (a) DO UPDATE SET b = b + excluded.b",
        "SELECT ifnull(a, 0) FROM t", "SELECT iif(a > 0, 1, 2) FROM t", "SELECT total(a) FROM t",
        "UPDATE t SET a = max(a, :a)", "DELETE FROM t WHERE id <= min(:last, (SELECT min(id) FROM t) + 1)",
        "SELECT 1 FROM t WHERE instr(a, :a) > 0", "SELECT 1 FROM t WHERE a IS :a", "SELECT seq FROM sqlite_sequence",
        "SELECT 1 FROM a CROSS JOIN b ON a.id = b.id", "SELECT 1 FROM freeze", "SELECT sum(counted_tokens) FROM t",
    ])
    func `such a statement is found`(sql: String) throws {
        let isFound = try Self.constructs.contains { try Regex($0.pattern).firstMatch(in: sql) != nil }
        #expect(isFound)
    }

    @Test(arguments: [
        "SELECT max(a), min(b) FROM t", "SELECT CAST(sum(counted_tokens) AS BIGINT), max(a) FROM t",
        "SELECT a FROM t WHERE a IS NULL AND b IS NOT NULL",
        "INSERT INTO t (a) VALUES (:a) ON CONFLICT (a) DO UPDATE SET b = t.b + excluded.b",
    ])
    func `one that every engine takes is not`(sql: String) throws {
        for (pattern, _) in Self.constructs { #expect(try Regex(pattern).firstMatch(in: sql) == nil, "\(pattern)") }
    }

    /// The string literals of the stores that begin as a statement does, each on one line, with the places where they stand.
    static func statements() throws -> [(place: String, sql: String)] {
        let folder = root.appending(path: "Sources/HeadroomStorage")
        let literal = try Regex<(Substring, Substring?, Substring?)>(
            #""""\n((?:.|\n)*?)\n *"""|"((?:[^"\\\n]|\\.)*)""#)
        let start = try Regex(#"^(SELECT|INSERT|UPDATE|DELETE|WITH|REPLACE|BEGIN|PRAGMA|CREATE|ALTER) "#)
        var statements: [(place: String, sql: String)] = []
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        for file in files.sorted() where !engines.contains(String(file.prefix { $0 != "/" })) {
            let source = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
            for match in source.matches(of: literal) {
                guard let text = match.output.1 ?? match.output.2 else { continue }
                let sql = text.replacing(#"\""#, with: "\"").split(whereSeparator: \.isWhitespace).joined(
                    separator: " ")
                guard try start.firstMatch(in: sql) != nil else { continue }
                let line = source[..<match.range.lowerBound].count { $0.isNewline } + 1
                statements.append(("\(file):\(line)", sql))
            }
        }
        return statements
    }
}

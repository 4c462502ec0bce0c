import Foundation
import Testing

/// What the documents promise a reader: each citation, link, path and name leads somewhere. A failure here mostly means
/// that something was renamed or moved, and that the document has to follow.
@Suite struct CatalogueTests {
    @Test func `every rule and section that a comment cites is a heading of its article`() throws {
        let headings = try [
            "Model": Self.sections(of: "Model"), "WireFormat": Self.sections(of: "WireFormat"),
            "ControlLaw": Self.matches(#"(?m)^#+ Rule ([0-9]+)"#, in: Self.article("ControlLaw")).map { $0[1] },
        ]
        var count = 0
        for file in try Self.files(under: ["Sources", "Tests", "policies", "Package.swift"]) {
            // A citation may go on in the comment's next line.
            let text = try Self.replacing(#"\n\s*//+ ?"#, in: Self.text(file), by: " ")
            for citation in try Self.matches(Self.citation, in: text) {
                let article = citation[1].isEmpty ? "ControlLaw" : citation[1]
                for number in try Self.matches(#"[0-9]+(?:\.[0-9]+)?"#, in: citation[2] + citation[3]) {
                    let isThere = headings[article]?.contains(number[0]) == true
                    #expect(isThere, "\(file) cites \(article) \(number[0]), which has no such heading")
                    count += 1
                }
            }
        }
        #expect(count > 60, "the citations are no longer found")
    }

    @Test func `no comment cites a document that a reader does not have`() throws {
        for file in try Self.files(under: ["Sources", "Tests", "policies", "Package.swift"])
        where !file.hasSuffix("CatalogueTests.swift") {
            for found in try Self.matches(
                #"(?:DESIGN|WIRE|CONVENTIONS)(?:\.md| §)|[Cc]ontrol-law\b|research/"#, in: Self.text(file))
            {
                Issue.record("\(file) cites \(found[0])")
            }
        }
    }

    @Test func `every article is linked from the first page, and every link leads to an article`() throws {
        let names = try Self.articles()
        let links = { (name: String) in try Self.matches("<doc:([^>]+)>", in: Self.article(name)).map { $0[1] } }
        for name in names {
            for link in try links(name) { #expect(names.contains(link), "\(name).md links to \(link)") }
        }
        #expect(try Set(links("Headroom")).union(["Headroom"]) == Set(names))
    }

    @Test func `every path that a document names exists`() throws {
        let files = Set(
            try Self.files(under: ["Sources", "Tests", "Package.swift"]).map {
                String($0.split(separator: "/").last ?? "")
            })
        for document in try Self.documents() {
            let text = try Self.text(document)
            let paths = #"(?<![\w/.])((?:Sources|Tests|migrations|policies|\.ci|\.github)/[\w+./-]*\w)"#
            // A path may name a file that the reader is told to make: with a word in capitals.
            for path in try Self.matches(paths, in: text).map({ $0[1] })
            where !path.contains("NNNN") && !path.contains("NAME") {
                let isThere = FileManager.default.fileExists(atPath: Self.root + path)
                #expect(isThere, "\(document) names \(path)")
            }
            for name in try Self.matches(#"`([\w+]+\.swift)`"#, in: text).map({ $0[1] }) {
                let isThere = files.contains(name)
                #expect(isThere, "\(document) names \(name)")
            }
        }
    }

    @Test func `every type and member that a document names is declared`() throws {
        var texts: [String: String] = [:]
        let declaration = #"\b(?:struct|class|enum|actor|protocol|typealias|extension) ([A-Z]\w*)"#
        for file in try Self.files(under: ["Sources", "Tests"]) where file.hasSuffix(".swift") {
            let text = try Self.text(file)
            for type in Set(try Self.matches(declaration, in: text).map({ $0[1] })) { texts[type, default: ""] += text }
        }
        let targets = Set(try FileManager.default.contentsOfDirectory(atPath: Self.root + "Sources")).union(
            try FileManager.default.contentsOfDirectory(atPath: Self.root + "Tests"))
        // Of the toolchain.
        let others: Set = ["JSONDecoder"]
        for document in try Self.documents() {
            let text = try Self.text(document)
            for name in try Self.matches(#"`([A-Z][a-z]+(?:[A-Z]\w*)+)`"#, in: text).map({ $0[1] }) {
                let isThere = texts[name] != nil || targets.contains(name) || others.contains(name)
                #expect(isThere, "\(document) names the type \(name)")
            }
            for name in try Self.matches(#"`([A-Z][a-z]\w*)\.([a-z]\w*)(?:\([\w:]*\))?`"#, in: text)
            where !["swift", "md", "csv"].contains(name[2]) {
                let members = #"\b(?:func|var|let|case|init) ?\b[^\n]*\b\#(name[2])\b"#
                let isThere = try texts[name[1]].map { try !Self.matches(members, in: $0).isEmpty }
                #expect(isThere == true, "\(document) names \(name[1]).\(name[2])")
            }
        }
    }

    // MARK: What is read

    private static let root = #filePath.split(separator: "/").dropLast(3).reduce("/") { $0 + $1 + "/" }
    private static let catalogue = "Sources/Headroom.docc/"
    /// `Model §5.2, §5.4`, `WireFormat §2`, `ControlLaw, rule 4`, `ControlLaw, rules 3 and 4`.
    private static let citation =
        #"\b(Model|WireFormat) (§[0-9.]+(?:(?:,| and) §[0-9.]+)*)|ControlLaw,? rules? ([0-9]+(?:(?:,| and) [0-9]+\b)*)"#

    private static func articles() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: root + catalogue)
            .filter { $0.hasSuffix(".md") }.map { String($0.dropLast(3)) }.sorted()
    }

    private static func article(_ name: String) throws -> String { try text("\(catalogue)\(name).md") }

    private static func documents() throws -> [String] {
        try ["README.md", ".github/CONTRIBUTING.md", ".github/SECURITY.md"] + articles().map { "\(catalogue)\($0).md" }
    }

    private static func sections(of article: String) throws -> [String] {
        try matches(#"(?m)^#+ ([0-9]+(?:\.[0-9]+)?)\.? "#, in: Self.article(article)).map { $0[1] }
    }

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: URL(filePath: root + path), encoding: .utf8)
    }

    /// Paths of texts below the root, ascending.
    private static func files(under tops: [String]) throws -> [String] {
        let endings = [".swift", ".json5", ".sql", ".h"]
        return try tops.flatMap { top in
            if top.hasSuffix(".swift") { return [top] }
            return try FileManager.default.subpathsOfDirectory(atPath: root + top).map { "\(top)/\($0)" }
        }
        .filter { file in endings.contains { file.hasSuffix($0) } }.sorted()
    }

    /// Each match with its groups; one that took no part is empty. (Not `Regex`: a debug build takes minutes with it.)
    private static func matches(_ pattern: String, in text: String) throws -> [[String]] {
        let whole = NSRange(text.startIndex..., in: text)
        return try NSRegularExpression(pattern: pattern).matches(in: text, range: whole).map { match in
            (0..<4).map { group in
                guard group < match.numberOfRanges else { return "" }
                return Range(match.range(at: group), in: text).map { String(text[$0]) } ?? ""
            }
        }
    }

    private static func replacing(_ pattern: String, in text: String, by other: String) throws -> String {
        let whole = NSRange(text.startIndex..., in: text)
        return try NSRegularExpression(pattern: pattern)
            .stringByReplacingMatches(in: text, range: whole, withTemplate: other)
    }
}

#if PostgreSQL
    /// The text of a statement as PostgreSQL takes it: `:name` becomes `$1`, and SQLite's hints go.
    struct PostgreSQLText {
        let sql: String
        /// By number, each with its colon.
        let parameters: [String]
        /// The names of tables and columns, and whatever else is a word.
        let words: Set<String>
        /// Of an insert of one row of parameters, and nothing else: the table and its columns.
        let row: (table: String, columns: [String])?

        init(_ text: StaticString) {
            self.init(utf8: unsafe Array(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)))
        }

        init(utf8 bytes: [UInt8]) {
            var output: [UInt8] = []
            var parameters: [String] = []
            var words: Set<String> = []
            var position = 0
            func isWord(_ byte: UInt8) -> Bool {
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
            func word(at start: Int) -> String {
                String(decoding: bytes[start...].prefix(while: isWord), as: UTF8.self)
            }
            while position < bytes.count {
                let byte = bytes[position]
                if byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") {
                    let end = bytes[(position + 1)...].firstIndex(of: byte) ?? bytes.count - 1
                    output += bytes[position...end]
                    if byte == UInt8(ascii: "\"") {
                        words.insert(String(decoding: bytes[(position + 1)..<end], as: UTF8.self))
                    }
                    position = end + 1
                } else if byte == UInt8(ascii: ":"), position + 1 < bytes.count, isWord(bytes[position + 1]) {
                    let name = ":" + word(at: position + 1)
                    let known = parameters.firstIndex(of: name)
                    if known == nil { parameters.append(name) }
                    output += "$\((known ?? parameters.count - 1) + 1)".utf8
                    position += name.utf8.count
                } else if isWord(byte) {
                    let word = word(at: position)
                    position += word.utf8.count
                    if word == "INDEXED" {
                        // INDEXED BY name: PostgreSQL chooses by itself.
                        for _ in 0..<2 {
                            while position < bytes.count, !isWord(bytes[position]) { position += 1 }
                            while position < bytes.count, isWord(bytes[position]) { position += 1 }
                        }
                    } else {
                        words.insert(word)
                        output += word.utf8
                    }
                } else {
                    output.append(byte)
                    position += 1
                }
            }
            sql = String(decoding: output, as: UTF8.self)
            self.parameters = parameters
            self.words = words
            row = PostgreSQLText.row(of: sql, parameters: parameters)
        }

        /// `INSERT INTO table (a, b) VALUES ($1, $2)`, each parameter once and in order.
        private static func row(of sql: String, parameters: [String]) -> (String, [String])? {
            guard sql.hasPrefix("INSERT INTO ") else { return nil }
            let rest = sql.dropFirst("INSERT INTO ".count)
            let parts = rest.split(separator: ")", omittingEmptySubsequences: false)
            guard parts.count == 3, parts[2].allSatisfy(\.isWhitespace) else { return nil }
            let head = parts[0].split(separator: "(")
            let values = parts[1].split(separator: "(")
            guard head.count == 2, values.count == 2 else { return nil }
            func names(_ list: Substring) -> [String] {
                list.split { $0 == "," || $0 == "\"" || $0.isWhitespace }.map(String.init)
            }
            let columns = names(head[1])
            guard names(values[1]) == parameters.indices.map({ "$\($0 + 1)" }), columns.count == parameters.count
            else { return nil }
            return (names(head[0]).joined(), columns)
        }
    }
#endif

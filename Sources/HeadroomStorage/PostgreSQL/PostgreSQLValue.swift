#if PostgreSQL
    import CPostgreSQL

    /// A value that is bound: its type is known also where it is NULL.
    enum PostgreSQLValue {
        case integer(Int64?)
        case double(Double?)
        case text(String?)
        case bytes([UInt8]?)

        static let integerType: Oid = 20
        static let doubleType: Oid = 701
        static let textType: Oid = 25

        var type: Oid {
            switch self {
            case .integer: Self.integerType
            case .double: Self.doubleType
            case .text: Self.textType
            case .bytes: 17
            }
        }

        var isNull: Bool {
            switch self {
            case .integer(let value): value == nil
            case .double(let value): value == nil
            case .text(let value): value == nil
            case .bytes(let value): value == nil
            }
        }

        /// In PostgreSQL's binary form: numbers with the highest byte first. Nothing for NULL.
        func append(to buffer: inout [UInt8]) {
            switch self {
            case .integer(let value?): Self.append(UInt64(bitPattern: value), to: &buffer)
            case .double(let value?): Self.append(value.bitPattern, to: &buffer)
            // PostgreSQL has no text with a zero byte in it.
            case .text(let value?): buffer += value.utf8.lazy.map { $0 == 0 ? UInt8(ascii: "?") : $0 }
            case .bytes(let value?): buffer += value
            default: break
            }
        }

        private static func append(_ bits: UInt64, to buffer: inout [UInt8]) {
            for shift in stride(from: 56, through: 0, by: -8) {
                buffer.append(UInt8(truncatingIfNeeded: bits >> UInt64(shift)))
            }
        }
    }

    /// Rows for COPY in binary, of one table.
    struct PostgreSQLCopy {
        /// More are sent before the transaction ends.
        static let mostBytes = 8 << 20

        let sql: String
        private(set) var bytes: [UInt8]

        /// The columns are those of a statement, so that nothing from outside gets into the text.
        init(_ table: String, _ columns: [String]) {
            let names = columns.map { "\"\($0)\"" }.joined(separator: ", ")
            sql = "COPY \"\(table)\" (\(names)) FROM STDIN WITH (FORMAT binary)"
            bytes = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0x00] + [UInt8](repeating: 0, count: 8)
        }

        mutating func add(_ values: [PostgreSQLValue]) {
            bytes += [UInt8(truncatingIfNeeded: values.count >> 8), UInt8(truncatingIfNeeded: values.count)]
            for value in values {
                guard !value.isNull else {
                    bytes += [0xFF, 0xFF, 0xFF, 0xFF]
                    continue
                }
                let place = bytes.count
                bytes += [0, 0, 0, 0]
                value.append(to: &bytes)
                let count = bytes.count - place - 4
                for (index, shift) in [24, 16, 8, 0].enumerated() {
                    bytes[place + index] = UInt8(truncatingIfNeeded: count >> shift)
                }
            }
        }

        /// With the trailer.
        var finished: [UInt8] { bytes + [0xFF, 0xFF] }
    }
#endif

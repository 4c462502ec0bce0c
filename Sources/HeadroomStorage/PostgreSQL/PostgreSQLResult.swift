#if PostgreSQL
    import CPostgreSQL
    import HeadroomModel

    /// What a statement answered: all of its rows, in binary.
    @safe final class PostgreSQLResult {
        private let handle: OpaquePointer
        let rowCount: Int32

        @unsafe init(_ handle: OpaquePointer) {
            unsafe self.handle = handle
            rowCount = unsafe PQntuples(handle)
        }

        deinit {
            unsafe PQclear(handle)
        }

        var status: ExecStatusType { unsafe PQresultStatus(handle) }

        var isError: Bool { status == PGRES_FATAL_ERROR || status == PGRES_BAD_RESPONSE }

        /// `COMMIT`, `INSERT 0 1`, …
        var tag: String { unsafe String(cString: PQcmdStatus(handle)) }

        var changedRows: Int { unsafe Int(String(cString: PQcmdTuples(handle))) ?? 0 }

        var state: String { field(UInt8(ascii: "C")) }

        var message: String { field(UInt8(ascii: "M")) }

        private func field(_ code: UInt8) -> String {
            unsafe PQresultErrorField(handle, Int32(code)).map { unsafe String(cString: $0) } ?? ""
        }

        func isNull(_ row: Int32, _ column: Int32) -> Bool { unsafe PQgetisnull(handle, row, column) == 1 }

        /// 0 for NULL, as SQLite has it.
        func integer(_ row: Int32, _ column: Int32) -> Int64 {
            let bytes = unsafe raw(row, column)
            guard unsafe !bytes.isEmpty else { return 0 }
            switch unsafe PQftype(handle, column) {
            case PostgreSQLValue.doubleType: return Int64(double(row, column))
            case PostgreSQLValue.integerType, 21, 23, 16:
                // Of 8, 4, 2 or 1 bytes, the first with the sign.
                let sign: Int64 = Int8(bitPattern: unsafe bytes[0]) < 0 ? -1 : 0
                return unsafe bytes.reduce(sign) { $0 << 8 | Int64($1) }
            default: preconditionFailure("column \(column) is no integer")
            }
        }

        func double(_ row: Int32, _ column: Int32) -> Double {
            let bytes = unsafe raw(row, column)
            guard unsafe !bytes.isEmpty else { return 0 }
            guard unsafe PQftype(handle, column) == PostgreSQLValue.doubleType else {
                return Double(integer(row, column))
            }
            return unsafe Double(bitPattern: bytes.reduce(0) { $0 << 8 | UInt64($1) })
        }

        func text(_ row: Int32, _ column: Int32) -> String {
            switch unsafe PQftype(handle, column) {
            case PostgreSQLValue.integerType, 21, 23: isNull(row, column) ? "" : "\(integer(row, column))"
            default: unsafe String(decoding: raw(row, column), as: UTF8.self)
            }
        }

        func bytes(_ row: Int32, _ column: Int32) -> [UInt8] { unsafe Array(raw(row, column)) }

        /// Empty for NULL. Valid as long as the result.
        @unsafe private func raw(_ row: Int32, _ column: Int32) -> UnsafeRawBufferPointer {
            let count = Int(unsafe PQgetlength(handle, row, column))
            guard count > 0, let start = unsafe PQgetvalue(handle, row, column) else {
                return unsafe UnsafeRawBufferPointer(start: nil, count: 0)
            }
            return unsafe UnsafeRawBufferPointer(start: start, count: count)
        }
    }
#endif

#if PostgreSQL
    import HeadroomModel

    extension StorageError {
        /// The error that a server told by `state`, an SQLSTATE, with what would be right.
        init(state: String, detail: String, path: String) {
            let (code, advice) = StorageError.meaning(ofState: state)
            let advised = advice.isEmpty ? "" : "; \(advice)"
            self.init(code: code, message: "\(path): \(detail) (SQLSTATE \(state))\(advised)")
        }

        private static func meaning(ofState state: String) -> (Code, String) {
            // The first two digits are the class.
            switch (state.prefix(2), state) {
            case ("23", _): (.constraint, "")
            case (_, "53100"):
                (.full, "free some space on the server's disk; the transaction was rolled back as a whole")
            case (_, "53200"): (.outOfMemory, "the server has no memory left")
            case (_, "53300"):
                (.busy, "the server has no connection left: raise max_connections, or end other programs")
            case (_, "25006"):
                (.readOnly, "this server takes no writes, as a replica does: name the primary")
            case ("40", _), (_, "55P03"), (_, "57014"):
                (.busy, "another process holds the database: try again when it has finished")
            case ("57", _), ("08", _):
                (.cannotOpen, "the connection was ended: the server must run, and be reachable from here")
            case ("28", _), (_, "42501"):
                (.cannotOpen, "the user must be allowed to log in, and own the database's schema")
            case (_, "3D000"): (.cannotOpen, "there is no such database: make it with createdb")
            case ("58", _), ("XX", _): (.inputOutput, "the server failed: look at its log")
            default: (.misuse, "")
            }
        }
    }
#endif

#if !PostgreSQL
    /// What the stores work on: a connection, and its prepared statements. They name no engine, so that their statements
    /// have one text for each; what one engine alone has (files, locks, checkpoints, copies) is in its folder, behind
    /// ``Database``.
    ///
    /// These are names for SQLite's own types, and cost nothing. With the trait `PostgreSQL` they are types that work with
    /// either engine, in the folder `Either`.
    package typealias SQLConnection = SQLiteConnection
    package typealias SQLStatement = SQLiteStatement
    typealias SQLDatabase = SQLiteDatabase

    extension SQLiteConnection {
        /// For the stores.
        package var portable: SQLConnection { self }

        /// For what only SQLite has.
        package var sqlite: SQLiteConnection? { self }
    }
#endif

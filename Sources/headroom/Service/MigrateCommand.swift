/// `headroom migrate`: brings a database to this program's schema without starting a service.
enum MigrateCommand {
    static let help = """
        usage: headroom migrate [--database FILE]

        Applies the migrations that FILE lacks, and prints the name of each. Makes the file where there is none.
        "headroom serve" does the same when it starts. Refuses a database from a newer Headroom, and one whose applied
        migrations read differently now.

          --database FILE   default \(Defaults.database)
        """

    static func run(_ arguments: [String]) throws -> Int32 {
        let database = try CommandDatabase.open(try Arguments(arguments, options: CommandDatabase.option))
        for name in database.applied { Terminal.print(name) }
        if database.applied.isEmpty { Terminal.error("\(database.path): nothing to do") }
        return 0
    }
}

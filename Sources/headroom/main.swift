import Foundation

// A reader that leaves (`headroom … | head`) must end a command with an error and not by a signal.
signal(SIGPIPE, SIG_IGN)
exit(await CommandTable.run(Array(CommandLine.arguments.dropFirst())))

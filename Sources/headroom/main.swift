import Foundation

// A reader that leaves (`headroom … | head -1`) must not end a command by a signal: see Terminal.print.
signal(SIGPIPE, SIG_IGN)
exit(await CommandTable.run(Array(CommandLine.arguments.dropFirst())))

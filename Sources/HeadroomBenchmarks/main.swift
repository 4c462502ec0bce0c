import Glibc

/// The hot paths, timed next to what limits them. Build with `-c release`.
///
///     HeadroomBenchmarks [--smoke] [fill | decision | fold | checkpoint | history | ingest | poll | fanout | draw | gate | cache …]
///
/// Without a name all run. `--smoke` runs each once at a small size, so that a change that breaks one is noticed.
struct Benchmark {
    let name: String
    let run: (_ smoke: Bool) throws -> Void
}

let benchmarks = [
    Benchmark(name: "fill", run: FillBenchmark.run),
    Benchmark(name: "decision", run: DecisionBenchmark.run),
    Benchmark(name: "fold", run: FoldBenchmark.run),
    Benchmark(name: "checkpoint", run: CheckpointBenchmark.run),
    Benchmark(name: "history", run: HistoryBenchmark.run),
    Benchmark(name: "ingest", run: IngestBenchmark.run),
    Benchmark(name: "poll", run: PollBenchmark.run),
    Benchmark(name: "fanout", run: FanoutBenchmark.run),
    Benchmark(name: "draw", run: DrawBenchmark.run),
    Benchmark(name: "gate", run: GateBenchmark.run),
    Benchmark(name: "cache", run: CacheBenchmark.run),
]

var arguments = Array(CommandLine.arguments.dropFirst())
// The load clients are this program in a process of its own.
if arguments.first == DrawBenchmark.clientArgument { exit(DrawClient.main(Array(arguments.dropFirst()))) }
if arguments.first == FanoutBenchmark.clientArgument {
    exit(FanoutClient.main(Array(arguments.dropFirst())))
}
if arguments.first == PollBenchmark.clientArgument {
    exit(PollBenchmark.runClient(Array(arguments.dropFirst())))
}
let isSmoke = arguments.contains("--smoke")
arguments.removeAll { $0 == "--smoke" }
for name in arguments where !benchmarks.contains(where: { $0.name == name }) {
    print("there is no benchmark \"\(name)\"; there are \(benchmarks.map(\.name).joined(separator: ", "))")
    exit(2)
}
for benchmark in benchmarks where arguments.isEmpty || arguments.contains(benchmark.name) {
    print("== \(benchmark.name)")
    do {
        try benchmark.run(isSmoke)
    } catch {
        print("failed: \(error)")
        exit(1)
    }
}

import Foundation
import HeadroomClient
import HeadroomModel
import Testing

@Suite struct PromptEstimateTests {
    /// Counted by the tokenizer of GPT-4 (cl100k), as its documentation and cookbook state them.
    @Test func `known texts are estimated within a few tokens`() {
        for (text, tokens) in [
            ("tiktoken is great!", 6), ("antidisestablishmentarianism", 6), ("2 + 2 = 4", 7), ("お誕生日おめでとう", 9),
        ] {
            #expect(abs(PromptEstimate.tokens(of: text) - tokens) <= 5, "\(text): \(PromptEstimate.tokens(of: text))")
        }
        #expect(PromptEstimate.tokens(of: "") == 0)
    }
}

@Suite struct ReporterTests {
    private func line(_ index: Int) -> TelemetryRecord {
        .call(CallRecord(request: "r-\(index)", at: start, gateway: "gw-1", tenant: "a", pool: "pool", outcome: .ok))
    }

    private func receipt(_ batch: Reporter.Batch) -> Reporter.Delivery {
        .answered(TelemetryReceipt(accepted: batch.lines, duplicate: 0, late: 0, rejected: []))
    }

    @Test func `a batch that is not answered is sent again under its number, byte for byte`() async {
        let reporter = Reporter(firstNumber: 100)
        reporter.append(line(1))
        var sent: [Reporter.Batch] = []
        #expect(
            await reporter.sendAll {
                sent.append($0)
                return .unanswered
            } == false)
        reporter.append(line(2))
        #expect(
            await reporter.sendAll {
                sent.append($0)
                return receipt($0)
            })
        #expect(sent.map(\.number) == [100, 100, 101])
        #expect(sent[0].bytes == sent[1].bytes)
        #expect(reporter.counts.appended == 2 && reporter.counts.accepted == 2)
        #expect(reporter.waitingBytes == 0)
    }

    @Test func `memory is bounded, and what is dropped is counted`() async {
        let reporter = Reporter(firstNumber: 1, maxBytes: 1 << 20)
        let lines = 20_000
        for index in 0..<lines { reporter.append(line(index)) }
        #expect(reporter.waitingBytes <= (1 << 20) + (1 << 19) + 1000)
        var received = 0
        #expect(
            await reporter.sendAll {
                received += $0.lines
                return receipt($0)
            })
        #expect(received + reporter.counts.dropped == lines)
        #expect(received > 0 && reporter.counts.dropped > 0)
    }

    @Test func `what could not be sent survives the process`() async throws {
        let directory = try TemporaryDirectory()
        let first = Reporter(firstNumber: 1000, spool: try Spool(directory: directory.url))
        for index in 0..<10 { first.append(line(index)) }
        #expect(await first.sendAll { _ in .unanswered } == false)
        let second = Reporter(firstNumber: 2000, spool: try Spool(directory: directory.url))
        second.append(line(11))
        var numbers: [Int64] = []
        #expect(
            await second.sendAll {
                numbers.append($0.number)
                return receipt($0)
            })
        #expect(numbers == [1000, 2000])
        #expect(second.counts.accepted == 11)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path).isEmpty)
    }

    @Test func `the spool is bounded, and its oldest lines go first`() async throws {
        let directory = try TemporaryDirectory()
        let reporter = Reporter(firstNumber: 1, spool: try Spool(directory: directory.url, maxBytes: 500))
        for index in 0..<10 {
            reporter.append(line(index))
            #expect(await reporter.sendAll { _ in .unanswered } == false)
        }
        var numbers: [Int64] = []
        #expect(
            await reporter.sendAll {
                numbers.append($0.number)
                return receipt($0)
            })
        #expect(numbers.last == 10)
        #expect(numbers.count + reporter.counts.dropped == 10)
        #expect(numbers.count < 10)
    }

    @Test func `lines that Headroom refuses are counted and not sent again`() async {
        let reporter = Reporter(firstNumber: 1)
        reporter.append(line(1))
        reporter.append(line(2))
        let fault = TelemetryReceipt.Fault(line: 2, detail: "no such pool")
        #expect(
            await reporter.sendAll { _ in
                .answered(TelemetryReceipt(accepted: 1, duplicate: 0, late: 0, rejected: [fault]))
            })
        #expect(reporter.counts.accepted == 1 && reporter.counts.rejected == 1)
        #expect(reporter.faults == [fault])
    }
}

import HeadroomModel
import HeadroomProviders
import Testing

@Suite struct AnswerTests {
    static let all =
        Answer.openAI + Answer.azure + Answer.anthropic + Answer.bedrock + Answer.google + Answer.groq + Answer.clouds
        + Answer.proxies + Answer.numbered + Answer.later + Answer.last + Answer.unseen + Answer.firstHalf
        + Answer.secondHalf + Answer.afterwards

    @Test func `answers of every provider say what their provider means`() {
        for answer in Self.all {
            let faults = answer.faults
            if !faults.isEmpty { Issue.record("\(answer.what): \(faults.joined(separator: "; "))") }
        }
    }
}

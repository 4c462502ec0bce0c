import HeadroomModel
import Testing

@Suite struct RateTextTests {
    @Test func `rates read the same in every sentence, and in every table`() {
        let rates = Rates(rpm: 500, tpm: 1_200_000)
        #expect(RateText.sentence(rates) == "1,200,000 tokens and 500 requests a minute")
        #expect(RateText.cell(rates) == "tpm 1,200,000 rpm 500")
        #expect(RateText.sentence(900_000, .inputTokens) == "900,000 input tokens a minute")
        #expect(RateText.sentence(Rates.none) == "nothing" && RateText.cell(Rates.none) == "-")
    }

    @Test func `a number is read as people write it, and what is none is refused`() {
        for text in ["1200000", "1,200,000", "1_200_000", "1.2M", "1.2m", "1200k", "1,200K", "1.2e6"] {
            #expect(RateText.parse(text) == 1_200_000, "\(text)")
        }
        for text in ["", "k", "1,20", "1,2000", ",200", "nan", "inf", "0x10", "-5", "1.2.3", "1 200", "ten"] {
            #expect(RateText.parse(text) == nil, "\(text)")
        }
    }
}

import HeadroomJSON
import HeadroomModel
import HeadroomWire
import Testing

@Suite struct TenantAnswerTests {
    @Test func `a flow is told with what is wanted now, as a rule, and what was served`() {
        let flow = TenantProfileReport.Flow(
            criticality: .batch, demand: Rates(rpm: 10), burnFast: Rates(rpm: 8), burnSlow: Rates(rpm: 4),
            usualDemand: Rates(rpm: 5), trend: 1, shape: nil)
        let report = TenantReport(
            tenant: "acme", tier: "free", demand: Rates(rpm: 10), assured: Rates(rpm: 6), consumed: Rates(rpm: 8),
            profile: TenantProfileReport(flows: [flow]))
        var writer = JSONWriter()
        writer.tenant(TenantAnswer(tenant: "acme", pools: [TenantAnswer.InPool(pool: "p", report: report)]))
        let text = String(decoding: writer.bytes, as: UTF8.self)
        let told = #"""
            {"criticality":"batch","demand":{"rpm":10},"usual_demand":{"rpm":5},"burn_fast":{"rpm":8},\#
            "burn_slow":{"rpm":4},"trend":1,"shape":null}
            """#
        #expect(text.contains(told), "\(text)")
    }
}

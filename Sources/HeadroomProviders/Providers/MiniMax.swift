import HeadroomModel

extension ProviderRules {
    /// Every failure is a success with a number in `base_resp.status_code`.
    static let miniMax = ProviderRules(
        names: ["minimax", "minimaxi", "hailuo"],
        codes: [
            "1002": .quota, "1039": .quota, "2056": .quota, "1008": .billing, "1004": .auth, "2049": .auth,
            "1026": .client, "1027": .client, "2013": .client,
        ])
}

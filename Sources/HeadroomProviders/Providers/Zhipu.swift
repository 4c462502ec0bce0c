import HeadroomModel

extension ProviderRules {
    /// GLM: numbers of its own under 429, mostly with a message in Chinese.
    static let zhipu = ProviderRules(
        names: ["zhipu", "zhipuai", "bigmodel", "glm", "zai", "z.ai"],
        codes: [
            "1113": .billing, "1309": .billing, "1302": .quota, "1303": .quota, "1304": .quota, "1308": .quota,
            "1310": .quota,
            // The model is too much asked for.
            "1305": .overload, "1312": .overload,
        ])
}

import HeadroomModel

extension ProviderRules {
    /// No numbers at all: an error type, in a header or the body, and a message that may say whether tokens or requests ran out.
    static let bedrock = ProviderRules(
        names: ["bedrock", "aws", "amazon", "sagemaker"],
        codes: [
            // The model failed or was slow, not we: neither a quota nor a lack of capacity.
            "modelnotreadyexception": .server, "modelerrorexception": .server, "modeltimeoutexception": .server,
            "modelstreamerrorexception": .server, "internalserverexception": .server, "modelerror": .server,
            "servicequotaexceededexception": .quota,
            // In a stream under a status that says nothing.
            "serviceunavailableexception": .overload, "throttlingexception": .quota,
        ],
        cachesBesideInput: true, countsCachedInput: false,
        exhausted: { report in
            // Elsewhere "too many requests" is only the name of status 429; here the alternative is "too many tokens".
            report.prose.mentions("too many tokens")
                ? ResourceSet(.tokens) : report.prose.mentions("too many requests") ? ResourceSet(.requests) : []
        })
}

/// The providers whose headers and errors are read by rules of their own.
package enum KnownProviders {
    /// One name of each, for people.
    package static var names: [String] { ProviderRules.all.compactMap(\.names.first) }

    /// True of any of their names, alone or as a word of a longer one (`azure_ai`).
    package static func contains(_ name: String) -> Bool { !ProviderRules.named(name).names.isEmpty }
}

import HeadroomModel

/// A proxy in front that signs people in and names them in a header.
///
/// The user acts as the token of that name: it gives the role, the limits and the end, and the audit log names it. The
/// proxy has to take the header off what comes from outside.
package struct TrustedProxy: Sendable {
    /// In lower case.
    package let header: String
    package let addresses: [AddressRange]

    package init(header: String, addresses: [AddressRange]) {
        self.header = header.lowercased()
        self.addresses = addresses
    }

    func trusts(_ address: AddressRange?) -> Bool {
        address.map { address in addresses.contains { $0.contains(address) } } ?? false
    }
}

import HeadroomModel
import HeadroomPolicy
import HeadroomWire

extension FuzzTarget {
    /// A file of contracts, as `POST /v1/contracts` and the sync take it.
    static let csvContracts = FuzzTarget(name: "csv-contracts") { checkContracts($0, .csv) }
    static let jsonContracts = FuzzTarget(name: "json-contracts") { checkContracts($0, .json) }

    private static func checkContracts(_ bytes: [UInt8], _ format: ContractImport.Format) {
        do throws(ContractImportError) {
            let contracts = try ContractImport.parse(bytes, format: format)
            let tenants = contracts.map(\.tenant)
            require(tenants == Set(tenants).sorted(), "tenants out of order, or twice: \(tenants)")
            for contract in contracts { checkWriting(contract) }
        } catch {
            let lines = bytes.count { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") } + 1
            require(error.faults.allSatisfy { (1...lines).contains($0.line ?? 1) }, "a fault outside: \(error)")
        }
    }

    /// The body of one contract is what the list shows of it, and a member of a file.
    private static func checkWriting(_ contract: Contract) {
        let written = ContractBody.encode(contract)
        do throws(BodyError) {
            let again = try ContractBody.decode(written, tenant: contract.tenant)
            require(again == contract, "reads back as another contract: \(written.text)")
        } catch {
            fatalError("written, and cannot be read: \(error) \(written.text)")
        }
        let file = [UInt8(ascii: "[")] + written + [UInt8(ascii: "]")]
        guard let again = try? ContractImport.parse(file, format: .json) else {
            fatalError("written, and cannot be imported: \(written.text)")
        }
        require(again == [contract], "is imported as another contract: \(written.text)")
    }
}

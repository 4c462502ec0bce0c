import HeadroomModel

/// Numbers of tenants, ascending, 4 bytes each, little-endian: small enough to look through for one tenant in every
/// explanation that is kept.
struct TenantIndex {
    private static let width = 4

    let bytes: [UInt8]

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// `ids` ascend.
    init(_ ids: some Sequence<UInt32>) {
        var writer = ByteWriter()
        for id in ids { writer.write(id) }
        bytes = writer.bytes
    }

    var count: Int { bytes.count / TenantIndex.width }

    var ids: [UInt32] { (0..<count).map(id) }

    /// The place of `wanted` among them.
    func place(of wanted: UInt32) -> Int? {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            let id = id(at: middle)
            if id == wanted { return middle }
            if id < wanted { low = middle + 1 } else { high = middle }
        }
        return nil
    }

    private func id(at place: Int) -> UInt32 {
        (0..<TenantIndex.width).reduce(0) { id, lane in
            id | UInt32(bytes[place * TenantIndex.width + lane]) << (8 * UInt32(lane))
        }
    }
}

extension String {
    /// 64 bits that tell it from others (FNV-1a), the same in every process; two texts share them once in about 10^19
    /// pairs. For telling apart, not against forgery.
    public var fingerprint: UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return hash
    }
}

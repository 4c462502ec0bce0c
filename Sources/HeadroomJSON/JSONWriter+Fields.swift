/// Members of an object: a key and its value in one call.
extension JSONWriter {
    package mutating func field(_ key: StaticString, _ value: String) {
        self.key(key)
        string(value)
    }

    /// Null when there is none.
    package mutating func field(_ key: StaticString, _ value: String?) {
        self.key(key)
        if let value { string(value) } else { null() }
    }

    package mutating func field(_ key: StaticString, _ value: some FixedWidthInteger) {
        self.key(key)
        integer(value)
    }

    /// Null when there is none.
    package mutating func field(_ key: StaticString, _ value: Int64?) {
        self.key(key)
        if let value { integer(value) } else { null() }
    }

    /// Must be finite.
    package mutating func field(_ key: StaticString, _ value: Double) {
        self.key(key)
        number(value)
    }

    /// Null when there is none, or it is not finite: a fault in an estimate must not end the service when a person looks
    /// at it.
    package mutating func field(_ key: StaticString, finite value: Double?) {
        self.key(key)
        if let value, value.isFinite { number(value) } else { null() }
    }

    package mutating func field(_ key: StaticString, _ value: Bool) {
        self.key(key)
        bool(value)
    }

    package mutating func field(_ key: StaticString, _ values: [String]) {
        field(key, each: values) { $0.string($1) }
    }

    /// An array of what `write` makes of each element.
    package mutating func field<Elements: Sequence>(
        _ key: StaticString, each elements: Elements, _ write: (inout JSONWriter, Elements.Element) -> Void
    ) {
        self.key(key)
        array(elements, write)
    }

    /// An array of what `write` makes of each element.
    package mutating func array<Elements: Sequence>(
        _ elements: Elements, _ write: (inout JSONWriter, Elements.Element) -> Void
    ) {
        beginArray()
        for element in elements { write(&self, element) }
        endArray()
    }
}

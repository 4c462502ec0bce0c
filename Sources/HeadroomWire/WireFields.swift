import HeadroomJSON

/// The fields of one kind of object, by their names on the wire.
struct WireFields<Field: RawRepresentable & CaseIterable & Sendable>: Sendable where Field.RawValue == String {
    fileprivate let names: JSONFields
    fileprivate let cases: [Field]

    init(_: Field.Type) {
        cases = Array(Field.allCases)
        names = JSONFields(cases.map(\.rawValue))
    }
}

/// How far the reading of one object has come.
struct FieldCursor {
    fileprivate var seen: JSONFields.Seen = 0
    /// The key whose value is being read; `nil` before the first and after the last.
    var key: JSONText?
}

extension JSONReader {
    /// The next field that is known and not null; its value is to be read. `nil` once the object is closed. A known
    /// field that stands twice is an error.
    mutating func nextField<Field>(
        of fields: WireFields<Field>, at cursor: inout FieldCursor
    ) throws(JSONError) -> Field? {
        while let key = try nextKey() {
            cursor.key = key
            guard let index = try field(key, of: fields.names, seen: &cursor.seen) else {
                try skipValue()
                continue
            }
            if try !readNull() { return fields.cases[index] }
        }
        cursor.key = nil
        return nil
    }
}

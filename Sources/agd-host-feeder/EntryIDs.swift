import AttributeValues

/// Ids for the entries of one list. Names come from the system and may be any text. A `forEach` takes each id once, and
/// needs ids that nodes can have.
struct EntryIDs {
    /// An id may have 255 bytes; the others are for a number.
    private static let mostBytes = 240
    private var given: Set<[UInt8]> = []

    /// The name, if that can be an id and is not given yet; otherwise the name with a number behind it. Control
    /// characters become their pictures.
    mutating func id(_ name: String) -> String {
        var base = ""
        for scalar in name.unicodeScalars {
            let shown = Unicode.Scalar(EntryIDs.picture(scalar.value)) ?? scalar
            if base.utf8.count + shown.utf8.count > EntryIDs.mostBytes {
                base += "…"
                break
            }
            base.unicodeScalars.append(shown)
        }
        var (id, number) = (base, 1)
        while NodeIdentifier.refusal(of: id) != nil || !given.insert(Array(id.utf8)).inserted {
            number += 1
            id = "\(base) #\(number)"
        }
        return id
    }

    private static func picture(_ code: UInt32) -> UInt32 { code < 32 ? 0x2400 + code : code == 127 ? 0x2421 : code }
}

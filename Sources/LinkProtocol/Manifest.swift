import AttributeValues

/// Names the snapshot of a site that a new mirror reads. The owner writes it after all parts of the snapshot.
package struct Manifest: Hashable, Sendable {
    package var position: Position
    /// The last token but one of the subjects of its parts. There are two, which take turns.
    package var snapshot: String
    package var parts: Int
    /// Bytes of the whole body.
    package var bytes: Int
    /// The sequence in the stream of transactions from which a new mirror continues.
    package var next: UInt64

    package init(position: Position, snapshot: String, parts: Int, bytes: Int, next: UInt64) {
        (self.position, self.snapshot, self.parts, self.bytes, self.next) = (position, snapshot, parts, bytes, next)
    }

    package var json: [UInt8] {
        let text: Value = [
            "agd": 1, "term": .uint(position.term), "epoch": .string(position.epoch),
            "revision": .uint(position.revision), "snapshot": .string(snapshot), "parts": .int(Int64(parts)),
            "bytes": .int(Int64(bytes)), "next": .uint(next),
        ]
        return Array(text.jsonText.utf8)
    }
}

extension Manifest {
    /// In the place of a manifest: the site has been retired. Mirrors remove it, until an owner publishes it again.
    package static let retirement = Array(#"{"agd":1,"retired":true}"#.utf8)

    package static func isRetirement(_ text: some Collection<UInt8>) -> Bool {
        (try? JSONParser.parseOnce(text))?.map?["retired"] == true
    }

    /// - Throws: `invalid`, which names the missing or wrong member.
    package init(json text: some Collection<UInt8>) throws(Failure) {
        let map = try JSONParser.parseOnce(text).map ?? ValueMap()
        guard try Manifest.number("agd", map) == 1 else {
            throw Failure(.invalid, "the manifest of a site is of a later version of agd-link", hint: "update agd-link")
        }
        guard let epoch = map["epoch"]?.string, !epoch.isEmpty else { throw Manifest.malformed("epoch") }
        position = Position(
            term: try Manifest.number("term", map), epoch: epoch, revision: try Manifest.number("revision", map))
        guard let id = map["snapshot"]?.string, SiteName(tokens: id)?.segments.count == 1 else {
            throw Manifest.malformed("snapshot")
        }
        snapshot = id
        guard let parts = Int(exactly: try Manifest.number("parts", map)), parts > 0 else {
            throw Manifest.malformed("parts")
        }
        guard let bytes = Int(exactly: try Manifest.number("bytes", map)) else { throw Manifest.malformed("bytes") }
        (self.parts, self.bytes) = (parts, bytes)
        next = try Manifest.number("next", map)
    }

    private static func number(_ name: String, _ map: ValueMap) throws(Failure) -> UInt64 {
        guard let number = UInt64(map[.string(name)]) else { throw malformed(name) }
        return number
    }

    private static func malformed(_ member: String) -> Failure {
        Failure(.invalid, "the manifest of a site has no valid '\(member)'")
    }
}

extension UInt64 {
    /// A whole number of JSON.
    package init?(_ value: Value?) {
        switch value {
        case .int(let number)? where number >= 0: self.init(number)
        case .uint(let number)?: self = number
        default: return nil
        }
    }
}

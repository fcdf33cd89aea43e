/// The key of a node in a store whose key does not follow from its parent's. Clients' siblings share the text before
/// their ids.
struct OwnKey {
    /// The part before the node's id; the whole key if there is no number.
    private let front: String
    /// 0: none.
    private let number: UInt64

    /// nil if the id has to be escaped, or the number has too many digits.
    init?(_ front: String, id: String, number: UInt64) {
        guard number < OwnKey.limit, StoredKey.isPlain(id) else { return nil }
        (self.front, self.number) = (front, number)
    }

    /// - Parameters:
    ///   - id: of the node.
    ///   - last: the front of the key that was made last.
    init(_ key: String, id: String, last: inout String) {
        var (key, id) = (key, id)
        let parts = key.withUTF8 { key in id.withUTF8 { OwnKey.split(key, id: $0) } }
        guard let (count, number) = parts else {
            // A copy: the text may lie between the rows of a store, whose memory could not be given back.
            (front, self.number) = (String(decoding: key.utf8, as: UTF8.self), 0)
            return
        }
        key.withUTF8 { key in
            let front = UnsafeBufferPointer(rebasing: key[..<count])
            if !last.withUTF8({ $0.hasSameBytes(as: front) }) { last = String(decoding: front, as: UTF8.self) }
        }
        (front, self.number) = (last, number)
    }

    /// The number of bytes before `/id#number`, and the number; nil if the key has no such end.
    private static func split(
        _ key: UnsafeBufferPointer<UInt8>, id: UnsafeBufferPointer<UInt8>
    ) -> (front: Int, number: UInt64)? {
        var place = key.count
        var (number, unit) = (UInt64(0), UInt64(1))
        while place > 0, key.count - place < OwnKey.digits, case UInt8(ascii: "0")...UInt8(ascii: "9") = key[place - 1]
        {
            place -= 1
            number += UInt64(key[place] - UInt8(ascii: "0")) * unit
            unit *= 10
        }
        let start = place - 1 - id.count
        guard place < key.count, key[place] != UInt8(ascii: "0"), start > 0, key[place - 1] == UInt8(ascii: "#"),
            key[start - 1] == UInt8(ascii: "/"), key[start..<place - 1].elementsEqual(id),
            id.allSatisfy(StoredKey.isPlain)
        else { return nil }
        return (start - 1, number)
    }

    /// Numbers with more digits stay texts.
    private static let digits = 18
    private static let limit: UInt64 = 1_000_000_000_000_000_000

    func text(id: String) -> String {
        if number == 0 { return front }
        var count = front.utf8.count + id.utf8.count + 3
        var rest = number / 10
        while rest > 0 {
            count += 1
            rest /= 10
        }
        return String(unsafeUninitializedCapacity: count) { memory in
            var key = BackwardText(UnsafeMutableBufferPointer(rebasing: memory[..<count]))
            write(id: id, to: &key)
            return count
        }
    }

    func write(id: String, to key: inout BackwardText) {
        if number > 0 {
            key.put(number)
            key.put(UInt8(ascii: "#"))
            key.put(id)
            key.put(UInt8(ascii: "/"))
        }
        key.put(front)
    }
}

/// A text that is written from its end on.
struct BackwardText {
    private let memory: UnsafeMutableBufferPointer<UInt8>
    private var start: Int
    /// False if something did not fit, or was not plain.
    private(set) var isWhole = true

    init(_ memory: UnsafeMutableBufferPointer<UInt8>) { (self.memory, start) = (memory, memory.count) }

    var bytes: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(rebasing: memory[start...]) }

    mutating func put(_ byte: UInt8) {
        guard start > 0 else { return isWhole = false }
        start -= 1
        memory.initializeElement(at: start, to: byte)
    }

    mutating func put(_ number: UInt64) {
        var rest = number
        repeat {
            put(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        } while rest > 0
    }

    mutating func put(_ text: String) {
        var text = text
        text.withUTF8 { text in
            guard text.count <= start else { return isWhole = false }
            start -= text.count
            _ = memory[start...].initialize(fromContentsOf: text)
        }
    }

    /// Puts an id that need not be escaped.
    mutating func put(plain id: String) {
        put(id)
        if isWhole, !memory[start..<start + id.utf8.count].allSatisfy(StoredKey.isPlain) { isWhole = false }
    }
}

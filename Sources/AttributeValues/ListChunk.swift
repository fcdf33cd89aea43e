/// Neighbours in a long list. Only a list that has the only reference to the chunk changes its elements.
final class ListChunk {
    private(set) var elements: [Value]
    /// The field by which the chunk was searched last, and for each element a number made from its id in that field.
    /// Only elements with the wanted number need to be compared.
    private var field = ""
    private var marks: [UInt16] = []

    init(_ elements: [Value]) { self.elements = elements }

    init(copying other: ListChunk) { (elements, field, marks) = (other.elements, other.field, other.marks) }

    func set(_ element: Value, at position: Int) {
        elements[position] = element
        if !marks.isEmpty { marks[position] = mark(of: element) }
    }

    func insert(_ element: Value, at position: Int) {
        elements.insert(element, at: position)
        if !marks.isEmpty { marks.insert(mark(of: element), at: position) }
    }

    func remove(at position: Int) -> Value {
        if !marks.isEmpty { marks.remove(at: position) }
        return elements.remove(at: position)
    }

    static func mark(_ id: Value) -> UInt16 { UInt16(truncatingIfNeeded: id.hashValue) }

    private func mark(of element: Value) -> UInt16 { element.id(by: field).map(ListChunk.mark) ?? 0 }

    /// - Parameter wanted: the mark of the id.
    func position(of id: Value, _ wanted: UInt16, by field: String) -> Int? {
        if field != self.field || marks.isEmpty {
            self.field = field
            marks = elements.map(mark)
        }
        guard hasMark(wanted) else { return nil }
        return elements.indices.first { marks[$0] == wanted && elements[$0].id(by: field) == id }
    }

    /// Without a branch for each mark, because most chunks do not have the wanted one.
    private func hasMark(_ wanted: UInt16) -> Bool {
        marks.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return false }
            // Four marks make a word. The subtraction borrows for a mark that is zero.
            let (ones, tops): (UInt64, UInt64) = (0x0001_0001_0001_0001, 0x8000_8000_8000_8000)
            let pattern = UInt64(wanted) &* ones
            var hits: UInt64 = 0
            for word in 0..<bytes.count / 8 {
                let difference = base.loadUnaligned(fromByteOffset: word &* 8, as: UInt64.self) ^ pattern
                hits |= (difference &- ones) & ~difference
            }
            return hits & tops != 0 || marks[(bytes.count / 8 * 4)...].contains(wanted)
        }
    }
}

extension [Value] {
    /// The first element that has this id.
    func position(of id: Value, by field: String) -> Int? {
        let isPath = field.utf8.contains(UInt8(ascii: "."))
        return withUnsafePointer(to: Value.string(field)) { key in
            withUnsafePointer(to: id) { id in
                withUnsafeBufferPointer { elements in
                    elements.indices.first { position in
                        guard let element = elements.baseAddress.map({ $0 + position }) else { return false }
                        if let found = element.element(of: key) { return found.isEqual(to: id) }
                        return isPath && element.pointee.id(by: field) == id.pointee
                    }
                }
            }
        }
    }
}

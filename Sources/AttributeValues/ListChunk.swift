/// Neighbours in a long list. Only a list that has the only reference to the chunk changes its elements.
final class ListChunk {
    private(set) var elements: [Value]
    /// The field by which the chunk was searched last, and for each element a number made from its id in that field.
    /// Only elements with the wanted number need to be compared.
    private var field = ""
    private var marks: [UInt16] = []

    init(_ elements: [Value]) { self.elements = elements }

    init(copying other: ListChunk) { (elements, field, marks) = (other.elements, other.field, other.marks) }

    func set(_ element: Value, at place: Int) {
        elements[place] = element
        if !marks.isEmpty { marks[place] = mark(of: element) }
    }

    func insert(_ element: Value, at place: Int) {
        elements.insert(element, at: place)
        if !marks.isEmpty { marks.insert(mark(of: element), at: place) }
    }

    func remove(at place: Int) -> Value {
        if !marks.isEmpty { marks.remove(at: place) }
        return elements.remove(at: place)
    }

    static func mark(_ id: Value) -> UInt16 { UInt16(truncatingIfNeeded: id.hashValue) }

    private func mark(of element: Value) -> UInt16 { element.id(by: field).map(ListChunk.mark) ?? 0 }

    /// - Parameter wanted: the mark of the id.
    func position(of id: Value, _ wanted: UInt16, by field: String) -> Int? {
        if field != self.field || marks.isEmpty {
            self.field = field
            marks = elements.map(mark)
        }
        var place = 0
        while let next = nextMark(wanted, from: place) {
            if elements[next].id(by: field) == id { return next }
            place = next + 1
        }
        return nil
    }

    private func nextMark(_ wanted: UInt16, from start: Int) -> Int? {
        marks.withUnsafeBytes { bytes in
            var place = start
            // Compare many marks at once.
            let all = SIMD32<UInt16>(repeating: wanted)
            while place + all.scalarCount <= marks.count {
                let some = bytes.loadUnaligned(fromByteOffset: place * 2, as: SIMD32<UInt16>.self)
                if any(some .== all) { break }
                place += all.scalarCount
            }
            while place < marks.count {
                if bytes.load(fromByteOffset: place * 2, as: UInt16.self) == wanted { return place }
                place += 1
            }
            return nil
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
                    elements.indices.first { place in
                        guard let element = elements.baseAddress.map({ $0 + place }) else { return false }
                        if let found = element.element(of: key) { return found.isEqual(to: id) }
                        return isPath && element.pointee.id(by: field) == id.pointee
                    }
                }
            }
        }
    }
}

import AttributeValues

/// Names with their numbers, compared by their bytes. Small sets are searched linearly.
struct NameSet {
    private var names: [String] = []
    /// The keys are values, because equal strings may have different bytes.
    private var index: [Value: Int] = [:]
    private static let linearLimit = 12

    /// The number of the name, if the set contains it.
    func find(_ name: String) -> Int? {
        index.isEmpty ? names.firstIndex { $0.hasSameBytes(as: name) } : index[.string(name)]
    }

    /// Returns the number of the name if the set contains it; otherwise adds it.
    mutating func insert(_ name: String, at number: Int) -> Int? {
        if index.isEmpty {
            if let found = find(name) { return found }
            names.append(name)
            guard names.count > NameSet.linearLimit else { return nil }
            for (position, name) in names.enumerated() { index[.string(name)] = position }
            return nil
        }
        func itself(_ number: inout Int) -> Int { number }
        let count = index.count
        let found = itself(&index[.string(name), default: number])
        return index.count == count ? found : nil
    }
}

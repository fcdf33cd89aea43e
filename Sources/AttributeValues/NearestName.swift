/// Finds the name that a user may have mistyped.
public enum NearestName {
    /// Maximum number of candidates that are compared. A scope can have many.
    private static let maximumCandidates = 1000
    /// Maximum number of bytes of a name that are compared.
    private static let comparedLength = 64
    /// A name with more edits is never suggested, however long it is. The work grows with this number.
    private static let maximumEdits = 4
    /// Maximum number of names that a hint lists.
    private static let listedNames = 8

    /// The candidate with the fewest edits (insert, delete, replace, swap of neighbours), if that number is small for
    /// its length.
    public static func find(_ name: String, among candidates: some Sequence<String>) -> String? {
        var comparison = EditDistance(from: name.utf8.prefix(comparedLength))
        var limit = min(max(1, comparison.wanted.count / 3), maximumEdits)
        // Every name of one letter is one edit away from every other.
        guard comparison.wanted.count > 1 else { return nil }
        var best: (distance: Int, name: String)?
        for candidate in candidates.prefix(maximumCandidates) where candidate != name {
            guard let distance = comparison.distance(to: candidate.utf8.prefix(comparedLength), atMost: limit) else {
                continue
            }
            if let found = best, (found.distance, found.name) < (distance, candidate) { continue }
            best = (distance, candidate)
            limit = distance
        }
        return best?.name
    }

    public static func hint(_ name: String, among candidates: some Sequence<String>) -> String? {
        find(name, among: candidates).map(question)
    }

    /// Suggests the nearest name or, if none is near, lists the first ones.
    public static func hint(_ name: String, orSomeOf candidates: some Sequence<String>) -> String? {
        if let hint = hint(name, among: candidates) { return hint }
        let listed = candidates.prefix(listedNames + 1).map(\.self)
        guard !listed.isEmpty else { return nil }
        return "it has \(listed.prefix(listedNames).joined(separator: ", "))\(listed.count > listedNames ? ", …" : "")"
    }

    /// The hint that suggests a name.
    public static func question(_ name: String) -> String { "did you mean '\(name)'?" }
}

/// Optimal string alignment distance from one name to others, ignoring case.
private struct EditDistance {
    let wanted: [UInt8]
    private var other: [UInt8] = []
    // Rows of the table of distances between prefixes. They are used in turn.
    private var before: [Int] = []
    private var last: [Int] = []
    private var row: [Int] = []

    init(from name: some Sequence<UInt8>) { wanted = name.map(EditDistance.fold) }

    private static func fold(_ byte: UInt8) -> UInt8 { byte >= 65 && byte <= 90 ? byte + 32 : byte }

    /// nil if there are more than `limit` edits. Cost: O(limit × length of the name).
    mutating func distance(to name: some Collection<UInt8>, atMost limit: Int) -> Int? {
        guard abs(name.count - wanted.count) <= limit else { return nil }
        other.removeAll(keepingCapacity: true)
        for byte in name { other.append(EditDistance.fold(byte)) }
        let tooMany = limit + 1
        for index in 0...other.count {
            if index < last.count { last[index] = min(index, tooMany) } else { last.append(min(index, tooMany)) }
        }
        while row.count < last.count { row.append(0) }
        while before.count < last.count { before.append(0) }
        for i in wanted.indices {
            // Cells farther from the diagonal than the limit need more edits than the limit.
            let first = max(0, i - limit)
            let end = min(other.count, i + limit + 1)
            guard first < end || other.isEmpty else { return nil }
            row[first] = first == 0 ? min(i + 1, tooMany) : tooMany
            var least = row[first]
            for j in first..<end {
                let cost = wanted[i] == other[j] ? 0 : 1
                // There is no cell above the end of the band.
                let above = j == i + limit ? tooMany : last[j + 1]
                var edits = min(last[j] + cost, above + 1, row[j] + 1)
                if i > 0, j > 0, wanted[i] == other[j - 1], wanted[i - 1] == other[j] {
                    edits = min(edits, before[j - 1] + 1)
                }
                row[j + 1] = min(edits, tooMany)
                least = min(least, row[j + 1])
            }
            guard least <= limit else { return nil }
            (before, last, row) = (last, row, before)
        }
        return last[other.count] <= limit ? last[other.count] : nil
    }
}

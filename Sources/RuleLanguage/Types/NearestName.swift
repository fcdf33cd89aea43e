/// The name that a mistyped one may have meant.
enum NearestName {
    /// Candidates that are looked at; a scope can hold many.
    private static let maximumCandidates = 2000

    /// The candidate with the fewest edits (insert, delete, replace, swap of neighbours), if they are few for its length.
    static func find(_ name: String, among candidates: some Sequence<String>) -> String? {
        let wanted = Array(name.utf8.prefix(64))
        let limit = max(1, wanted.count / 3)
        var best: (distance: Int, name: String)?
        for candidate in candidates.prefix(maximumCandidates) where candidate != name {
            let other = Array(candidate.utf8.prefix(64))
            guard abs(other.count - wanted.count) <= limit else { continue }
            let distance = edits(wanted, other)
            guard distance <= limit else { continue }
            if let found = best, (found.distance, found.name) < (distance, candidate) { continue }
            best = (distance, candidate)
        }
        return best?.name
    }

    static func hint(_ name: String, among candidates: some Sequence<String>) -> String? {
        find(name, among: candidates).map { "did you mean '\($0)'?" }
    }

    /// Optimal string alignment distance, letters' case counting nothing.
    private static func edits(_ a: [UInt8], _ b: [UInt8]) -> Int {
        func fold(_ byte: UInt8) -> UInt8 { byte >= 65 && byte <= 90 ? byte + 32 : byte }
        var before: [Int] = []
        var last = Array(0...b.count)
        for i in 0..<a.count {
            var row = [i + 1]
            for j in 0..<b.count {
                let cost = fold(a[i]) == fold(b[j]) ? 0 : 1
                var least = min(last[j] + cost, last[j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, fold(a[i]) == fold(b[j - 1]), fold(a[i - 1]) == fold(b[j]) {
                    least = min(least, before[j - 1] + 1)
                }
                row.append(least)
            }
            before = last
            last = row
        }
        return last[b.count]
    }
}

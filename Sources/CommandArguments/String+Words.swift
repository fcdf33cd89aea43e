extension String {
    /// The text in lines that are broken between words. A word that is too long has a line of its own.
    /// - Parameter measure: the columns that a text takes.
    package func brokenAtWords(to columns: Int, measure: (String) -> Int = { $0.count }) -> [String] {
        var lines = [""]
        for word in split(separator: " ").map(String.init) {
            let line = lines[lines.count - 1]
            if line.isEmpty {
                lines[lines.count - 1] = word
            } else if measure(line) + 1 + measure(word) <= columns {
                lines[lines.count - 1] += " " + word
            } else {
                lines.append(word)
            }
        }
        return lines
    }
}

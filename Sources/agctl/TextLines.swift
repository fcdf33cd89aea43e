extension String {
    /// Its lines without their ends. Lines that end in CR LF are found too: Swift takes the two for one character, so that
    /// splitting at "\n" passes over them.
    var lines: [String] {
        unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            String(line.last == "\r" ? line.dropLast() : line)
        }
    }
}

extension String {
    /// The lines without their ends. It also splits at CR LF, which Swift treats as one character, so that splitting at
    /// "\n" would miss it.
    var lines: [String] {
        unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            String(line.last == "\r" ? line.dropLast() : line)
        }
    }
}

/// The share of the last ten seconds in which tasks waited for a resource, in percent (`/proc/pressure`).
struct Pressure: Equatable {
    /// `cpu`, `memory` or `io`.
    var id: String
    /// At least one task waited.
    var some: Double
    /// All tasks waited. 0 if the kernel does not report it.
    var full: Double

    static let resources = ["cpu", "memory", "io"]

    static func read(_ id: String, _ pressure: SystemText) -> Pressure? {
        var text = pressure
        var read = Pressure(id: id, some: 0, full: 0)
        var isThere = false
        while var line = text.line() {
            guard let kind = line.word(), let average = line.word(), average.hasPrefix("avg10="),
                let percent = Double(average.dropFirst("avg10=".count))
            else { continue }
            switch kind {
            case "some": read.some = percent
            case "full": read.full = percent
            default: continue
            }
            isThere = true
        }
        return isThere ? read : nil
    }
}

/// How much of the last ten seconds tasks stood still for want of a resource, in percent (`/proc/pressure`).
struct Pressure: Equatable {
    /// `cpu`, `memory` or `io`.
    var id: String
    /// Some task waited.
    var some: Double
    /// No task could go on. 0 where the kernel does not tell.
    var full: Double

    static let resources = ["cpu", "memory", "io"]

    static func read(_ id: String, _ pressure: ProcText) -> Pressure? {
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

import AttributeValues

/// Collects faults while a document is read and checked.
package final class FaultCollector {
    private(set) var faults: [SceneFault] = []
    private(set) var omitted = 0
    /// Uses that are allowed, but probably not meant; at most `SceneLimits.faults`.
    private var warned: [SceneFault] = []
    private let file: String?
    /// nil if the document is not a text.
    let lines: SourceLines?

    package init(file: String? = nil, lines: SourceLines? = nil) {
        self.file = file
        self.lines = lines
    }

    package var isEmpty: Bool { faults.isEmpty }
    var count: Int { faults.count + omitted }
    var countWithWarnings: Int { count + warned.count }
    /// True if further faults are only counted.
    var isFull: Bool { faults.count >= SceneLimits.faults }

    /// - Parameter fault: evaluated only if the fault is reported: finding hints and positions takes longer than
    ///   finding the fault.
    func add(_ fault: @autoclosure () -> SceneFault) {
        if isFull { omitted += 1 } else { faults.append(fault()) }
    }

    func add(
        _ code: ErrorCode, _ message: @autoclosure () -> String, at position: SourcePosition = .none,
        hint: @autoclosure () -> String? = nil, note: SceneFault.Note? = nil
    ) {
        add(SceneFault(code, message(), position: position, hint: hint(), note: note))
    }

    func warn(_ warning: SceneFault) {
        guard warned.count < SceneLimits.faults else { return }
        warned.append(warning)
        warned[warned.count - 1].isWarning = true
    }

    package func throwIfAny() throws(SceneFaults) {
        if let all = sorted(faults, omitted: omitted) { throw all }
    }

    var warnings: SceneFaults? { sorted(warned, omitted: 0) }

    private func sorted(_ faults: [SceneFault], omitted: Int) -> SceneFaults? {
        guard !faults.isEmpty else { return nil }
        let sorted = faults.enumerated().sorted {
            ($0.element.position.line, $0.element.position.column, $0.offset)
                < ($1.element.position.line, $1.element.position.column, $1.offset)
        }
        return SceneFaults(sorted.map(\.element), omitted: omitted, file: file, lines: lines)
    }
}

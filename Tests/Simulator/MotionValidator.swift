import AttributeValues
import TestSupport

/// Holds frames and completions of one subscription against what Animation.md promises of them. All curves of a world
/// are linear and equally long, so a displayed value never leaves the range of the values that the attribute has had.
final class MotionValidator {
    private let name: String
    private let truth: WatchTruth
    /// Updates may come later than completions.
    private let hasMaxRate: Bool
    private var faults: [String] = []
    private var time = -Double.infinity
    /// The last frame of each path, and the range of all since the last rest.
    private var frames: [String: (last: Value, low: Double, high: Double)] = [:]
    private struct Phase: Hashable { var transaction: Int64, phase: String }
    private var ends: Set<Phase> = []
    /// Replaced motions, by transaction.
    private var replaced: [Int64: Set<String>] = [:]
    /// Transactions with motions that were told, whose ends are due.
    private var moving: Set<Int64> = []
    private var told: Int64 = 0
    /// The revision with which the subscription has begun. An update at it has the changes of several transactions.
    private var begun: Int64 = 0
    /// What updates told last of each path that moves.
    private var targets: [String: Value] = [:]

    init(_ name: String, _ truth: WatchTruth, hasMaxRate: Bool) {
        (self.name, self.truth, self.hasMaxRate) = (name, truth, hasMaxRate)
    }

    /// The subscription begins; what was before is told with the snapshot, or was told before.
    func begin(_ result: Value) {
        told = result.integer("revision") ?? told
        begun = told
    }

    func receive(_ event: Value) {
        guard let parameters = event.map?["params"] else { return }
        switch event.map?["method"]?.string {
        case "update": update(parameters)
        case "frames": frame(parameters)
        case "completion": completion(parameters)
        default: break
        }
    }

    private func update(_ event: Value) {
        told = event.integer("revision") ?? told
        for change in event.map?["changes"]?.list ?? [] {
            guard let path = change.map?["path"]?.string else { continue }
            targets[path] = change.map?["timeline"] == nil ? nil : change.map?["value"]
        }
        guard told > begun, event.map?["initial"] != true, event.integer("from") == nil else { return }
        if (event.map?["changes"]?.list ?? []).contains(where: { $0.map?["timeline"] != nil }) { moving.insert(told) }
    }

    private func frame(_ event: Value) {
        guard let now = event.map?["time"].flatMap(MotionValidator.number) else {
            return faults.append("\(name): frames without a time")
        }
        if now < time { faults.append("\(name): frames of \(now) come behind those of \(time)") }
        time = now
        for (path, value) in event.map?["values"]?.map ?? ValueMap() {
            guard let path = path.string else { continue }
            let number = MotionValidator.number(value)
            let before = frames[path]
            frames[path] = (
                value, min(before?.low ?? .infinity, number ?? .infinity),
                max(before?.high ?? -.infinity, number ?? -.infinity)
            )
        }
    }

    private func completion(_ event: Value) {
        guard let transaction = event.integer("transaction"), let phase = event.map?["phase"]?.string else {
            return faults.append("\(name): a completion without transaction or phase")
        }
        let paths = (event.map?["paths"]?.list ?? []).compactMap(\.string)
        if !hasMaxRate, transaction > told, !paths.isEmpty {
            faults.append("\(name): a completion of \(transaction) comes before its update")
        }
        if phase == "replaced" {
            let again = paths.filter { !replaced[transaction, default: []].insert($0).inserted }
            if !again.isEmpty { faults.append("\(name): \(again) of \(transaction) were replaced twice") }
            return
        }
        if !ends.insert(Phase(transaction: transaction, phase: phase)).inserted {
            faults.append("\(name): \(transaction) is \(phase) twice")
        }
        if phase == "removed", !ends.contains(Phase(transaction: transaction, phase: "logical")) {
            faults.append("\(name): \(transaction) is removed before it is logically complete")
        }
    }

    /// Nothing moves any more.
    func comeToRest() {
        for (path, frame) in frames {
            // It may have jumped since.
            guard let value = targets[path], truth.isEverKnown(path, in: 0...Int64.max) else { continue }
            if MotionValidator.number(frame.last) ?? 0 != MotionValidator.number(value) ?? 0 {
                faults.append(
                    "\(name): the last frame of \(path) is \(frame.last.jsonText), and it rests at \(value.jsonText)")
            }
            var (low, high) = (Double.infinity, -Double.infinity)
            _ = truth.hasHad(path, in: 0...Int64.max) { content in
                guard let number = content?.map?["value"].flatMap(MotionValidator.number) else { return false }
                (low, high) = (min(low, number), max(high, number))
                return false
            }
            let room = (high - low) * 1e-9
            if frame.low < low - room || frame.high > high + room {
                faults.append(
                    "\(name): \(path) was shown from \(frame.low) to \(frame.high), and was never beyond \(low) and \(high)"
                )
            }
        }
        for transaction in moving.sorted() {
            for phase in ["logical", "removed"] where !ends.contains(Phase(transaction: transaction, phase: phase)) {
                faults.append("\(name): \(transaction) is at rest and was not told to be \(phase)")
            }
        }
        frames = [:]
        moving = []
    }

    func interrupted() {
        frames = [:]
        targets = [:]
        moving = []
        ends = []
        replaced = [:]
        told = 0
        time = -.infinity
    }

    func takeFaults() -> [String] {
        defer { faults = [] }
        return faults
    }

    private static func number(_ value: Value) -> Double? {
        switch value {
        case .int(let number): Double(number)
        case .double(let number): number
        default: nil
        }
    }
}

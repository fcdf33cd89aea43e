import AttributeGraph
import AttributeValues
import ViewGraph
import WireProtocol

extension GraphRuntime {
    /// Starts or ends the recording if requested. Returns everything recorded so far, and whether it continues.
    func trace(enable: Bool?) -> Answer {
        switch enable {
        case true?: beginRecording()
        case false?: endRecording()
        case nil: break
        }
        return .value(recording.value)
    }

    private func beginRecording() {
        recording.begin()
        graph.runRecorder = RunRecorder(now: { [unowned self] in exactTime }) { [unowned self] run in
            recording.add(run, path: graph.path(of:))
        }
    }

    private func endRecording() {
        recording.end()
        graph.runRecorder = nil
    }

    func recordTurn(_ commands: Int) {
        guard recording.isOn else { return }
        let before = recording.countersBefore
        let after = graph.counters
        recording.add(
            turnFrom: turn.now.monotonic, to: exactTime,
            [
                "commands": .int(Int64(commands)), "deliveries": .int(Int64(turn.deliveryCount)),
                "evaluations": .int(Int64(after.evaluations &- before.evaluations)),
                "invalidations": .int(Int64(after.invalidations &- before.invalidations)),
                "cutoffs": .int(Int64(after.cutOffs &- before.cutOffs)), "revision": .int(Int64(clamping: revision)),
            ])
    }

    private var exactTime: Double { surroundings.stopwatch?() ?? turn.now.monotonic }
}

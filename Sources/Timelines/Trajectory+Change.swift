import AttributeValues

extension Trajectory {
    /// A later change: its time, its target, its animation.
    public struct Change: Hashable, Sendable {
        public var time: Double
        public var target: Double
        public var animation: Animation
        public var mode: Timeline.Retargeting
    }
}

extension Trajectory.Change {
    private static let signature = Signature(
        "change", .required("at"), .required("to"), .optional("curve"), .optional("mode"))

    /// Reads `at=0.1,to=2,curve=smooth`, optionally with `mode=merge`, `additive` or `chain`. The default curve is
    /// `default`.
    /// - Parameter mode: the mode of a change that specifies none, neither itself nor in its curve.
    /// - Throws: `AnimationError` with its position in the whole text.
    public init(_ text: String, mode standard: Timeline.Retargeting = .merge) throws(AnimationError) {
        // It is read as a call, whose labels end with colons.
        let start = "change("
        do throws(AnimationError) {
            let calls = try Animation.parseCalls(start + text.replacing("=", with: ":") + ")")
            guard calls.count == 1 else {
                throw AnimationError("a change ends with its last value", at: calls[1].place)
            }
            try self.init(BoundCall(calls[0], in: [Trajectory.Change.signature], what: "change"), standard)
        } catch {
            let offset = error.offset.map { min(max(0, $0 - start.utf8.count), text.utf8.count) }
            throw AnimationError(error.message, offset: offset, hint: error.hint)
        }
    }

    private init(_ call: BoundCall, _ standard: Timeline.Retargeting) throws(AnimationError) {
        time = try call.number("at") ?? 0
        guard (0...AnimationLimits.duration).contains(time) else {
            throw AnimationError(
                "a change's time is \(shortText(time))", at: call["at"]?.place ?? call.place,
                hint: "it lies between 0 and \(shortText(AnimationLimits.duration)) s")
        }
        target = try call.number("to") ?? 0
        animation = call["curve"] == nil ? .default : try Animation(call.chain("curve"))
        guard let named = call["mode"] else {
            mode = animation.retargeting ?? standard
            return
        }
        guard let mode = Timeline.Retargeting(rawValue: try call.chain("mode")[0].name) else {
            throw AnimationError("there is no such mode", at: named.place, hint: "there are merge, additive, chain")
        }
        self.mode = mode
    }
}

extension Animation {
    /// Reads the input of a user: the text form, or the JSON form as text.
    public init(written text: String) throws(AnimationError) {
        guard let first = text.utf8.first(where: { $0 > 0x20 }),
            first == UInt8(ascii: "{") || first == UInt8(ascii: "\"")
        else {
            try self.init(text)
            return
        }
        let value: Value
        do throws(Failure) { value = try JSONParser.parseOnce(text.utf8) } catch {
            throw AnimationError("the animation is \(error.message)", hint: error.hint)
        }
        try self.init(value)
    }
}

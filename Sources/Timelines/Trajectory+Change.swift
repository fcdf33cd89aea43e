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
    /// Reads `at=0.1,to=2,curve=smooth`, optionally with `mode=merge`, `additive` or `chain`. The default curve is
    /// `default`.
    /// - Parameter mode: the mode of a change that specifies none, neither itself nor in its curve.
    /// - Throws: `AnimationError` with its position in the whole text.
    public init(_ text: String, mode standard: Timeline.Retargeting = .merge) throws(AnimationError) {
        var members: [String: Member] = [:]
        for member in Trajectory.Change.members(of: text) {
            guard let value = member.value, Trajectory.Change.keys.contains(member.key) else {
                let near =
                    NearestName.find(member.key, among: Trajectory.Change.keys).map { "did you mean '\($0)='? " } ?? ""
                throw AnimationError(
                    "a change cannot have '\(member.key)'", offset: member.offset,
                    hint: near + "it is written at=0.1,to=2,curve=smooth,mode=merge")
            }
            guard members[member.key] == nil else {
                throw AnimationError("a change has '\(member.key)' twice", offset: member.offset)
            }
            members[member.key] = Member(key: member.key, value: value, offset: member.offset)
        }
        func number(_ key: String, _ name: String, _ unit: String) throws(AnimationError) -> Double {
            guard let member = members[key], let value = member.value else {
                throw AnimationError("a change lacks its \(name)", hint: "write \(key)=\(unit)")
            }
            guard let number = Double(value), number.isFinite else {
                throw AnimationError(
                    "a change's \(name) is '\(value)'", offset: member.valueOffset, hint: "it is a number")
            }
            return number
        }
        time = try number("at", "time", "SECONDS")
        guard (0...AnimationLimits.duration).contains(time) else {
            throw AnimationError(
                "a change's time is \(shortText(time))", offset: members["at"]?.valueOffset,
                hint: "it lies between 0 and \(shortText(AnimationLimits.duration)) s")
        }
        target = try number("to", "target", "NUMBER")
        animation = .default
        if let member = members["curve"], let value = member.value {
            do throws(AnimationError) {
                animation = try Animation(written: value)
            } catch {
                throw AnimationError(
                    error.message, offset: member.valueOffset + (error.offset ?? 0), pointer: error.pointer,
                    hint: error.hint)
            }
        }
        mode = animation.retargeting ?? standard
        if let member = members["mode"], let value = member.value {
            guard let named = Timeline.Retargeting(rawValue: value) else {
                throw AnimationError(
                    "there is no mode '\(value)'", offset: member.valueOffset, hint: "there are merge, additive, chain")
            }
            mode = named
        }
    }

    private static let keys = ["at", "to", "curve", "mode"]

    /// `key=value`, or a key alone.
    private struct Member {
        var key: String
        var value: String?
        /// The offset of the key in the text, in UTF-8.
        var offset: Int
        var valueOffset: Int { offset + key.utf8.count + 1 }
    }

    /// The parts of the text between commas. Commas inside brackets and quotes do not count.
    private static func members(of text: String) -> [Member] {
        let bytes = Array(text.utf8)
        var members: [Member] = []
        var start = 0
        var depth = 0
        var isQuoted = false
        for i in 0...bytes.count {
            let byte = i < bytes.count ? bytes[i] : UInt8(ascii: ",")
            switch byte {
            case UInt8(ascii: "\""): isQuoted.toggle()
            case _ where isQuoted && i < bytes.count: break
            case UInt8(ascii: "("), UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: ")"), UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: ",") where depth == 0 || i == bytes.count:
                while start < i, bytes[start] == 0x20 { start += 1 }
                let part = bytes[start..<i]
                let key = part.prefix { $0 != UInt8(ascii: "=") }
                members.append(
                    Member(
                        key: String(decoding: key, as: UTF8.self),
                        value: key.count < part.count
                            ? String(decoding: part.dropFirst(key.count + 1), as: UTF8.self) : nil, offset: start))
                start = i + 1
            default: break
            }
        }
        return members
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
        do throws(Failure) {
            value = try JSONParser.parseOnce(text.utf8)
        } catch {
            throw AnimationError("the animation is \(error.message)", hint: error.hint)
        }
        try self.init(value)
    }
}

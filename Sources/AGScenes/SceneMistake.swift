/// A part of a scene in Swift that no document can express. The daemon reports all other mistakes (missing names, wrong
/// types) when the scene is applied.
public struct SceneMistake: Hashable, Sendable, CustomStringConvertible {
    /// The position in the daemon's form: `nodes[0].children[1].state.isPlaying`.
    public var place: String
    public var message: String

    public var description: String { place.isEmpty ? message : "\(place): \(message)" }

    func inside(_ outer: String) -> SceneMistake {
        let separator = place.isEmpty || place.hasPrefix("[") ? "" : "."
        return SceneMistake(place: outer + separator + place, message: message)
    }
}

/// All mistakes of a scene at once.
public struct SceneMistakes: Error, CustomStringConvertible {
    public var mistakes: [SceneMistake]

    public var description: String { mistakes.map(\.description).joined(separator: "\n") }
}

/// The names that documents accept.
enum SceneNames {
    private static let longestID = 255

    static func problem(ofName name: String, _ what: String) -> String? {
        let isName =
            !name.isEmpty
            && name.utf8.enumerated().allSatisfy { position, byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"):
                    true
                case UInt8(ascii: "0")...UInt8(ascii: "9"): position > 0
                default: false
                }
            }
        return isName ? nil : "\(what) has a name of letters, digits and _, not '\(name)'"
    }

    static func problem(ofID id: String) -> String? {
        if id.isEmpty { return "an id cannot be empty" }
        if id.utf8.count > longestID { return "an id has at most \(longestID) bytes" }
        if id == "*" || id == "**" { return "an id cannot be '\(id)', which stands for any node in patterns" }
        if id.unicodeScalars.contains(where: { $0.value < 32 || $0.value == 127 }) {
            return "an id cannot contain control characters"
        }
        return nil
    }
}

import AttributeValues

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
    static func problem(ofName name: String, _ what: String) -> String? {
        name.isIdentifier ? nil : "\(what) has a name of letters, digits and _, not '\(name)'"
    }
}

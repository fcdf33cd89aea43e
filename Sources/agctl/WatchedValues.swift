import AttributeValues
import WireProtocol

/// The newest contents of watched attributes, and the displayed values of those that move.
struct WatchedValues {
    private(set) var contents: [Name: Content] = [:]
    /// By path, while the displayed value differs from the model value.
    private(set) var displayed: [Name: Value] = [:]
    private var awaitsSnapshot = false

    /// - Parameter isSnapshot: true if the next update has all values.
    mutating func resume(isSnapshot: Bool) { awaitsSnapshot = isSnapshot }

    /// - Returns: the changes of an update with the contents before them, and the paths of attributes that are gone.
    mutating func take(_ event: Event) -> (changes: [(change: Change, before: Content?)], gone: [String]) {
        switch event {
        case .update(_, _, _, _, let isInitial, let changes, _):
            var gone = changes.filter { $0.content.failure?.code == .removed }.map(\.path)
            if isInitial, awaitsSnapshot {
                awaitsSnapshot = false
                let present = Set(texts: changes.map(\.path))
                gone += contents.keys.filter { !present.contains($0) }.texts
            }
            for path in gone { (contents[path], displayed[path]) = (nil, nil) }
            let kept = changes.filter { $0.content.failure?.code != .removed }
            return (kept.map { ($0, put($0)) }, gone)
        case .frames(_, let frames):
            for (path, value) in frames {
                guard let content = contents[path] else { continue }
                // When the motion has come to rest, the model value is shown again.
                displayed[path] = content.value == value ? nil : value
            }
        default: break
        }
        return ([], [])
    }

    /// - Returns: the content before the change.
    private mutating func put(_ change: Change) -> Content? {
        let before = contents.updateValue(change.content, forKey: Name(change.path))
        // The displayed value stays until the first frame, so that nothing jumps ahead.
        displayed[change.path] = change.timeline == nil ? nil : displayed[change.path] ?? before?.value
        return before
    }

    /// Notes a value that the daemon has accepted, before its update arrives.
    mutating func assume(_ value: Value, at path: String) { contents[path] = .value(value) }
}

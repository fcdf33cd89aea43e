public import AGClient
public import AttributeValues

/// The types that have modifiers: nodes and the bodies of components. As in SwiftUI, a modifier is outside those before
/// it. Where the nearest modifier wins, the one that is written first wins.
public protocol Modifiable {
    var draft: NodeDraft { get set }
}

extension Modifiable {
    private func changed(_ change: (inout NodeDraft) -> Void) -> Self {
        var copy = self
        change(&copy.draft)
        return copy
    }

    // MARK: Environment

    /// Sets an environment key, or a part of a grouped one, for the node and all nodes below it.
    public func environment(_ key: PlacePath, _ value: SceneExpression) -> Self {
        changed { $0.write(\.environment, key, value, at: "environment") }
    }

    public func environment(_ key: PlacePath, _ source: PlacePath) -> Self { environment(key, SceneExpression(source)) }

    @_disfavoredOverload
    public func environment(_ key: PlacePath, _ value: some ValueRepresentable) -> Self {
        environment(key, .literal(value))
    }

    /// Puts an object into the environment. Readers find it by its type.
    public func environment(object: PlacePath) -> Self {
        changed { draft in
            draft.tell(object.problemAsReference, at: "environment.objects")
            draft.objects.append(.string("$" + object.text))
        }
    }

    /// Derives a key's value from the inherited one.
    /// - Parameter rule: CEL over `value`.
    public func transformEnvironment(_ key: PlacePath, _ rule: String) -> Self {
        changed { draft in
            let name = key.text
            let place = "transformEnvironment.\(name)"
            if draft.environment.contains(where: { NodeDraft.covers(name, $0.key) }) {
                draft.tell(
                    "the node also sets '\(name)', which hides the transform; transform it on a Group around the node",
                    at: place)
            }
            if draft.transforms.contains(where: { $0.key == name }) {
                draft.tell(
                    "the node transforms '\(name)' already; put the second transform on a Group around it", at: place)
            }
            draft.transforms.append((name, .string(rule)))
        }
    }

    // MARK: Container values

    /// Sets a value of the node that its closest container can read.
    public func containerValue(_ key: PlacePath, _ value: SceneExpression) -> Self {
        changed { $0.write(\.containerValues, key, value, at: "containerValues") }
    }

    public func containerValue(_ key: PlacePath, _ source: PlacePath) -> Self {
        containerValue(key, SceneExpression(source))
    }

    @_disfavoredOverload
    public func containerValue(_ key: PlacePath, _ value: some ValueRepresentable) -> Self {
        containerValue(key, .literal(value))
    }

    /// A tag. It is found by its value and its type.
    public func tag(_ value: SceneExpression) -> Self {
        changed { draft in
            draft.tell(value.problem, at: "tag")
            draft.tag = draft.tag ?? value.document
        }
    }

    public func tag(_ source: PlacePath) -> Self { tag(SceneExpression(source)) }

    @_disfavoredOverload
    public func tag(_ value: some ValueRepresentable) -> Self { tag(.literal(value)) }

    // MARK: Preferences

    /// Passes a value up to the ancestors. It replaces the values that the node and all nodes below it pass up for the
    /// key.
    public func preference(_ key: PlacePath, _ value: SceneExpression) -> Self {
        changed { draft in
            draft.tell(value.problem, at: "preferences.\(key.text)")
            draft.preferences.removeAll { $0.key == key.text }
            draft.preferences.append((key.text, value.document))
        }
    }

    public func preference(_ key: PlacePath, _ source: PlacePath) -> Self { preference(key, SceneExpression(source)) }

    @_disfavoredOverload
    public func preference(_ key: PlacePath, _ value: some ValueRepresentable) -> Self {
        preference(key, .literal(value))
    }

    // MARK: Identity

    /// The id that the node had in an earlier form of the scene, or its path (`../lamp`, `/room/lamp`): it keeps its
    /// values.
    public func was(_ place: String) -> Self { changed { $0.former = place } }

    // MARK: Animation

    /// How the node appears and disappears, as text: `move(edge: leading).combined(with: opacity)`. The outermost
    /// transition counts.
    public func transition(_ text: String) -> Self {
        changed { $0.transition = text }
    }

    /// When `value` changes, this animation applies to the node and all nodes below it.
    /// - Parameter animation: text, or the JSON form; nil for none.
    public func animation(_ animation: Value?, value: SceneExpression) -> Self {
        changed { draft in
            draft.tell(value.problem ?? animation?.problemInDocument, at: "animation")
            draft.animations.insert(["curve": animation ?? .null, "value": value.document], at: 0)
        }
    }

    public func animation(_ animation: Value?, value: PlacePath) -> Self {
        self.animation(animation, value: SceneExpression(value))
    }
}

extension Modifiable {
    // MARK: Actions that the daemon calls by itself

    /// Performs the steps when the value changes, in the same transaction. Their rules can use `oldValue` and
    /// `newValue`.
    /// - Parameter initial: true to perform the steps also when the node appears.
    public func onChange(
        of value: SceneExpression, initial: Bool = false, _ first: Action.Step, _ others: Action.Step...
    ) -> Self {
        changed { $0.onChange(of: value, initial, [first] + others) }
    }

    public func onChange(
        of value: PlacePath, initial: Bool = false, _ first: Action.Step, _ others: Action.Step...
    ) -> Self {
        changed { $0.onChange(of: SceneExpression(value), initial, [first] + others) }
    }

    /// Performs the steps when the node comes into the tree. Over restarts of the daemon, that happens once.
    public func onAppear(_ first: Action.Step, _ others: Action.Step...) -> Self {
        changed { $0.add([first] + others, to: \.appearing, at: "onAppear") }
    }

    /// Performs the steps when the node has gone.
    public func onDisappear(_ first: Action.Step, _ others: Action.Step...) -> Self {
        changed { $0.add([first] + others, to: \.disappearing, at: "onDisappear") }
    }
}

extension NodeDraft {
    fileprivate mutating func onChange(of value: SceneExpression, _ initial: Bool, _ steps: [Action.Step]) {
        tell(value.problem ?? steps.lazy.compactMap(\.problem).first, at: "onChange")
        var document = ValueMap([(.string("of"), value.document)])
        if initial { document["initial"] = true }
        document["perform"] = NodeDraft.oneOrMore(steps.map(\.document))
        changes.append(.map(document))
    }

    fileprivate mutating func add(
        _ steps: [Action.Step], to list: WritableKeyPath<NodeDraft, [Value]>, at place: String
    ) {
        tell(steps.lazy.compactMap(\.problem).first, at: place)
        self[keyPath: list] += steps.map(\.document)
    }

    /// Writes a key outside of the existing ones: a nearer key that covers it stays, and a nearer part of it follows
    /// it.
    fileprivate mutating func write(
        _ list: WritableKeyPath<NodeDraft, [(key: String, value: Value)]>, _ key: PlacePath, _ value: SceneExpression,
        at place: String
    ) {
        let name = key.text
        tell(value.problem, at: "\(place).\(name)")
        if self[keyPath: list].contains(where: { NodeDraft.covers($0.key, name) }) { return }
        let position = self[keyPath: list].firstIndex { NodeDraft.covers(name, $0.key) }
        self[keyPath: list].insert((name, value.document), at: position ?? self[keyPath: list].count)
    }

    /// True if one key path equals another or contains it.
    fileprivate static func covers(_ outer: String, _ inner: String) -> Bool {
        Name(outer) == Name(inner) || [".", "["].contains { inner.utf8.starts(with: (outer + $0).utf8) }
    }
}

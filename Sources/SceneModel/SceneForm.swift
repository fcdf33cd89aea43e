/// The maps with fixed keys of which a document consists. The checker refuses other keys. The tables of the reference
/// and the JSON schema are made from these lists, and editors complete them.
package enum SceneForm: String, CaseIterable, Sendable {
    case scene, keys, key, preferenceKey, type
    case node, forEach
    case ifChoice = "if"
    case switchChoice = "switch"
    case place, slot
    case state, entries, computed, binding, computedBinding
    case clock, dailyClock, animationClock, animationInterval
    case action, steps, onChange, parameter, animation

    package var keys: [String] {
        switch self {
        case .scene: Keys.scene
        case .keys: Keys.keys
        case .key: Keys.key
        case .preferenceKey: Keys.preferenceKey
        case .type: Keys.type
        case .node: Keys.node
        case .forEach: Keys.forEach
        case .ifChoice: Keys.ifChoice
        case .switchChoice: Keys.switchChoice
        case .place: Keys.place
        case .slot: Keys.slot
        case .state: Keys.state
        case .entries: Keys.entries
        case .computed: Keys.computed
        case .binding: Keys.binding
        case .computedBinding: Keys.computedBinding
        case .clock: Keys.clock
        case .dailyClock: Keys.dailyClock
        case .animationClock: Keys.animationClock
        case .animationInterval: Keys.animationInterval
        case .action: Keys.action
        case .steps: Keys.steps
        case .onChange: Keys.onChange
        case .parameter: Keys.parameter
        case .animation: Keys.animation
        }
    }

    /// Made once: scenes have thousands of states.
    private enum Keys {
        static let scene = ["agd", "import", "functions", "keys", "types", "components", "nodes", "values", "dangling"]
        static let keys = KeyGroup.allCases.map(\.rawValue)
        static let key = ["default", "type"]
        static let preferenceKey = ["default", "type", "reduce"]
        static let type = ["state", "computed", "actions"]
        static let node = NodeKey.names
        static let forEach = ["in", "id", "as", "index", "node"] + NodeReader.templateKeys.map(\.name)
        static let ifChoice = ["id", "was", "if", "then", "else"]
        static let switchChoice = ["id", "was", "switch", "cases", "default"]
        static let place = ["id", "place"]
        static let slot = ["id", "slot", "default"]
        static let state = ["initial", "type", "transient", "history", "expires", "entries", "past"]
        static let entries = ["expires", "limit"]
        static let computed = ["rule", "type", "history"]
        static let binding = ["to", "animation"]
        static let computedBinding = ["get", "set", "animation"]
        static let clock = ["every", "start"]
        static let dailyClock = ["at", "on", "timeZone"]
        static let animationClock = ["animation"]
        static let animationInterval = ["minimumInterval"]
        static let action = ActionDefinition.Operation.allCases.map(\.rawValue) + ["when", "animation", "parameters"]
        static let steps = ["parameters", "when", "steps"]
        static let onChange = ["of", "on", "initial", "when", "perform"]
        static let parameter = ["default", "type"]
        static let animation = ["curve", "modifiers", "value"]
    }
}

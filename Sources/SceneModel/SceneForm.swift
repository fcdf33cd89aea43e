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

    package var keys: [String] { SceneForm.table[self] ?? [] }

    private static let table: [SceneForm: [String]] = [
        .scene: ["agd", "import", "functions", "keys", "types", "components", "nodes", "values", "dangling"],
        .keys: KeyGroup.allCases.map(\.rawValue),
        .key: ["default", "type"],
        .preferenceKey: ["default", "type", "reduce"],
        .type: ["state", "computed"],
        .node: NodeKey.names,
        .forEach: ["in", "id", "as", "index", "node"] + NodeReader.templateKeys.map(\.name),
        .ifChoice: ["id", "if", "then", "else"],
        .switchChoice: ["id", "switch", "cases", "default"],
        .place: ["id", "place"],
        .slot: ["id", "slot", "default"],
        .state: ["initial", "type", "transient", "history", "expires", "entries"],
        .entries: ["expires", "limit"],
        .computed: ["rule", "type", "history"],
        .binding: ["to", "animation"],
        .computedBinding: ["get", "set", "animation"],
        .clock: ["every", "start"],
        .dailyClock: ["at", "on", "timeZone"],
        .animationClock: ["animation"],
        .animationInterval: ["minimumInterval"],
        .action: ActionDefinition.Operation.allCases.map(\.rawValue) + ["when", "animation", "parameters"],
        .steps: ["parameters", "when", "steps"],
        .onChange: ["of", "on", "initial", "when", "perform"],
        .parameter: ["default", "type"],
        .animation: ["curve", "modifiers", "value"],
    ]
}

import AttributeGraph
import AttributeValues
import SceneModel

// States whose initial value comes from a rule: `state: { draft: { initial: =title } }`.
//
// Reads: `unsettled.states`, and what their rules read.
// Writes: the first values of these states, unless the store has values for them.
// Leaves: each state has a value or an error. States whose rules read each other in a circle stay in
// `unsettled.states`.

extension ViewGraph {
    /// If a rule fails, its failure is the state's content until somebody writes the state, or the surroundings of its
    /// node change.
    /// - Returns: whether a state has begun.
    func beginStates(_ settlement: inout Settlement) -> Bool {
        let states = unsettled.states
        guard !states.isEmpty, settlement.beginnings < limits.reactionRounds else { return false }
        settlement.beginnings += 1
        unsettled.states = []
        // A state whose rule reads a state without a value is tried again later.
        let waiting = states.filter { !begin($0) }
        defer { unsettled.states = waiting + unsettled.states }
        return waiting.count < states.count || !unsettled.states.isEmpty
    }

    /// - Returns: false if its rule reads a state that has no value yet.
    private func begin(_ state: AttributeID) -> Bool {
        guard engine.isAlive(state), content(of: state) == Wiring.notBegun,
            let definition = record(state).definition, let start = definition.start
        else { return true }
        let row = record(state).node
        let rule = createHidden(definition.name, row, definition.type)
        defer { destroyVertex(rule) }
        replaceSource(of: rule, source(start, at: row, .modifier, definition.type))
        var content = content(of: rule)
        if content.failure?.message == Wiring.notBegun.failure?.message { return false }
        if case .value(let value) = content {
            do throws(Failure) {
                let path = try AttributePath(path(of: state))
                _ = try refuseLong(value, at: path)
            } catch {
                content = .failure(error)
            }
        }
        setInput(state, content)
        if content.failure != nil { unbegun[row, default: []].append(state) }
        stored.keepFirst(of: state)
        return true
    }

    /// Lets states without a first value begin again: the surroundings of their nodes have changed.
    func beginAgain(at rows: [NodeRow]) {
        for row in rows where !unbegun.isEmpty {
            for state in unbegun.removeValue(forKey: row) ?? []
            where engine.isAlive(state) && content(of: state).failure != nil {
                setInput(state, Wiring.notBegun)
                unsettled.states.append(state)
            }
        }
    }
}

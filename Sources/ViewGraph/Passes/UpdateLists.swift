import AttributeGraph
import AttributeValues
import SceneModel

// Reads: `unsettled.lists`, the data of these lists, and what places show.
// Writes: the instances of these lists. What is new goes to `unsettled`.
// Leaves: no list whose instances differ from its data. Lists in an endless loop are empty, and have an error.

extension ViewGraph {
    /// One round: lists that come to depend on others are updated in a further one.
    /// - Returns: whether there were lists to update.
    func updateLists(_ settlement: inout Settlement) -> Bool {
        let stale = lists.takeStale(settlement)
        for (_, row) in stale where nodes.isAlive(row) && nodes.isLinked(row) {
            let update = updateInstances(of: row)
            if let loop = lists.findLoop(after: update, of: row, &settlement) { stop(loop, &settlement) }
            // The next list of this round may gather what this one has made.
            tellContainers()
        }
        return !stale.isEmpty
    }

    /// Makes the instances of a list agree with its data, if the data is valid.
    private func updateInstances(of row: NodeRow) -> ListUpdate {
        do throws(Failure) {
            guard let edit = try lists.findEdit(of: row) else { return .none }
            perform(edit)
            return edit.update
        } catch {
            if lists.noteRefusal(error, at: row) { removeInstances(of: row) }
            if let edit = lists.findFrozen(of: row) { perform(edit) }
            return .refused
        }
    }

    private func perform(_ edit: ListEdit) {
        let row = edit.row
        structureChange.beginList(nodes.nodeID(row))
        defer { structureChange.endList() }
        let gone = lists.performEdit(edit) { instantiate($0, id: Name($1), under: row, slot: .content) }
        for instance in gone { destroySubtree(instance) }
    }

    /// Removes all instances, when they cannot be kept. The list then makes new ones.
    func removeInstances(of row: NodeRow) { destroySubtrees(lists.emptyList(row)) }

    /// Removes the instances of all lists in a loop. Each list gets an error that names the loop.
    private func stop(_ loop: [AttributeID], _ settlement: inout Settlement) {
        for (list, failure) in lists.findEndless(in: loop) where nodes.isAlive(list) {
            removeInstances(of: list)
            lists.noteStopped(list, failure, loop, &settlement)
        }
    }
}

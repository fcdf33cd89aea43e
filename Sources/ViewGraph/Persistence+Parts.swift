import AttributeValues
import SceneModel

// What the edits say of nodes, and what becomes of it when nodes are made, removed and moved.

extension Persistence {
    /// Sets what the edits say of a node.
    /// - Parameter bottom: what the layers below say.
    func set(_ content: PartContent, over bottom: NodeDefinition?, of row: NodeRow) {
        guard notesChanges else { return }
        nodes.set(content, over: bottom, of: row)
        noteRow(of: row)
    }

    /// Notes that the edits make a node, with all below that no component makes.
    func noteNew(_ top: NodeRow) {
        var pending = [top]
        while let row = pending.popLast() {
            nodes.part(row).isMade = true
            noteRow(of: row)
            notePlace(of: row)
            if nodes[row].kind.isMadeFromData { continue }
            let inside = nodes.definitionsInUse(of: row)
            pending += nodes[row].children.filter {
                !inside.contains(ObjectIdentifier(nodes[$0].definition))
            }
        }
    }

    /// Notes that a document completes a node that was made with what both say.
    /// - Parameter bottom: what the layers below say.
    func noteCompleted(_ top: NodeRow, by definition: NodeDefinition, over bottom: NodeDefinition) {
        var pending = [(top, definition, bottom)]
        while let (row, definition, bottom) = pending.popLast() {
            set(.saying(definition, isMade: false, over: bottom), over: bottom, of: row)
            for (child, _) in definition.given {
                guard let there = nodes.child(child.id, of: row) else { continue }
                if let below = bottom.slotted.first(where: { $0.0.id == child.id })?.0, child.canComplete(below) {
                    pending.append((there, child, below))
                } else {
                    noteNew(there)
                }
            }
        }
    }

    // MARK: Moving

    /// Notes that a node is about to get another parent.
    /// - Returns: whether the layers below the edits have the node where it was.
    func noteMove(of top: NodeRow) -> Bool {
        guard notesChanges else { return false }
        for row in nodes.subtree(of: top) { forgetRows(of: row) }
        noteEdited(nodes[top].parent)
        return isBelowEdits(top)
    }

    /// Notes that a node has got another parent: there it is a copy, which the edits make.
    /// - Parameters:
    ///   - isLeft: the result of `noteMove`.
    ///   - key: the node's key before.
    func noteMoved(_ top: NodeRow, from parent: NodeRow, _ isLeft: Bool, key: String) {
        guard notesChanges else { return }
        if isLeft { noteRemoved(nodes[top].id, from: parent) }
        nodes.part(top).order = nil
        makeCopy(top)
        forgetRemoved(nodes[top].id, from: nodes[top].parent)
        notePlace(of: top)
        // Rows that wait under the new key are of another node.
        forgetAbsentRows(below: [top])
        if !absentRows.isEmpty { rename(key, to: nodes.key(of: top)) }
    }

    /// Stores all that the edits say of a moved subtree under its new keys, once lists in it have followed their data.
    func noteCopied(_ top: NodeRow) {
        guard notesChanges else { return }
        for row in nodes.subtree(of: top) {
            if let state = nodes[row].instances, state.isFrozen { noteFrozen(state.list, of: row) }
            guard let part = nodes[row].part else { continue }
            noteRow(of: row)
            for id in part.removed.sorted().texts {
                note(
                    StoreChange(
                        key: nodes.key(of: row) + "/" + StoredKey.escape(id), name: "", value: ["removed": true]))
            }
        }
    }

    /// Makes the edits say all of a subtree that the layers below them said.
    private func makeCopy(_ top: NodeRow) {
        var pending = [(row: top, isMadeAlone: false)]
        while let (row, isMadeAlone) = pending.popLast() {
            if !isMadeAlone { makeOwn(row) }
            if nodes[row].kind.isMadeFromData {
                pending += nodes[row].children.map { ($0, true) }
                continue
            }
            let below = Dictionary(
                nodes.childrenBelowEdits(of: row).map { ($0.definition.id, $0.definition) }, uniquingKeysWith: { $1 })
            if let part = nodes[row].part, !part.removed.isEmpty {
                part.removed.formIntersection(below.keys)
            }
            for child in nodes[row].children {
                let isSame =
                    !nodes.isMade(child)
                    && below[nodes[child].id].map { definition in
                        nodes.bottom(of: child).map { $0 === definition || $0.makesSame(as: definition) } ?? false
                    } ?? false
                pending.append((child, isSame))
            }
        }
    }

    /// Makes the edits say all of a node, without its children.
    private func makeOwn(_ row: NodeRow) {
        var content = nodes.content(of: row)
        guard !content.isMade, let bottom = nodes.bottom(of: row) else { return }
        if let said = content.said {
            content.said = said.completing(bottom)
        } else if bottom.base != nil {
            let (use, others) = bottom.dividedUse()
            content.said = use
            if let others { content.members = content.members.map { $0.merged(over: others) } ?? others }
        } else {
            let own = NodeDefinition(copyOf: nodes[row].definition, id: nodes[row].id)
            (own.header, own.children, own.footer) = ([], [], [])
            nodes[row].definition = own
            content = PartContent(said: own)
        }
        content.isMade = true
        nodes.set(content, over: nil, of: row)
        notePlace(of: row)
    }

    /// Moves waiting rows to the new keys of their nodes.
    private func rename(_ old: String, to new: String) {
        for key in absentRows.findKeys(below: { $0.hasSameBytes(as: old) }) {
            guard let absent = absentRows[key] else { continue }
            let other = new + String(Substring(key.utf8.dropFirst(old.utf8.count)))
            let rows = absent.rows
            absentRows.remove(key)
            note(StoreChange(key: key, name: nil, value: nil))
            for var row in rows {
                row.key = other
                absentRows.insert(row)
                note(StoreChange(key: other, name: row.name, value: row.value))
            }
        }
    }

    // MARK: Removing

    /// True if the layers below the edits have a node, although the edits may make another one in its place. Many
    /// children of one node may go with one change.
    func isBelowEdits(_ row: NodeRow) -> Bool {
        let parent = nodes[row].parent
        if nodes[parent].kind.isMadeFromData { return false }
        if idsBelow?.row != parent {
            idsBelow = (parent, Set(nodes.childrenBelowEdits(of: parent).map(\.definition.id)))
        }
        return idsBelow?.ids.contains(nodes[row].id) == true
    }

    /// The definitions of nodes are about to change, or have changed.
    func forgetIDsBelow() { idsBelow = nil }

    /// Notes that the edits remove a node of the layers below.
    private func noteRemoved(_ id: Name, from parent: NodeRow) {
        nodes.part(parent).removed.insert(id)
        let key = nodes.key(of: parent) + "/" + StoredKey.escape(id.text)
        absentRows.remove(key)
        note(StoreChange(key: key, name: "", value: ["removed": true]))
    }

    /// Notes that a node stands where the edits had removed one.
    /// - Parameter hasRow: whether the node has a row, which replaces the one that says so.
    func forgetRemoved(_ id: Name, from parent: NodeRow, hasRow: Bool = true) {
        guard nodes[parent].part?.removed.contains(id) == true else { return }
        nodes.part(parent).removed.remove(id)
        noteEdited(parent)
        if hasRow { return }
        note(StoreChange(key: nodes.key(of: parent) + "/" + StoredKey.escape(id.text), name: "", value: nil))
    }

    /// Deletes the rows of a subtree that is about to be removed, and the rows without a node below it.
    /// - Parameter rows: the nodes of one subtree, the top first.
    func noteGone(_ rows: [NodeRow]) {
        guard notesChanges, let top = rows.first else { return }
        for row in rows { forgetRows(of: row) }
        noteTopGone(top)
    }

    /// Notes that a subtree has been unlinked. Its rows are deleted later.
    /// - Returns: keys that have all these rows below them.
    func noteUnlinked(_ top: NodeRow) -> [String] {
        guard notesChanges else { return [] }
        forgetRows(of: top)
        let keys = nodes[top].children.isEmpty ? [] : [nodes.key(of: top)]
        if isLosing, !absentRows.isEmpty, !keys.isEmpty {
            // Rows that wait there already stay, so they have to be later than what is deleted.
            for key in absentRows.findKeys(below: Set(texts: keys)) {
                for row in absentRows[key]?.rows ?? [] {
                    note(StoreChange(key: key, name: row.name, value: row.value))
                }
            }
        }
        noteTopGone(top)
        return keys
    }

    private func noteTopGone(_ top: NodeRow) {
        if isLosing { return }
        let parent = nodes[top].parent
        if !nodes[parent].kind.isMadeFromData { noteEdited(parent) }
        forgetAbsentRows(below: [top])
        if isBelowEdits(top) { noteRemoved(nodes[top].id, from: nodes[top].parent) }
    }

    /// Notes that the layers below the edits no longer have a node that is about to be removed. What the edits say of
    /// it and of the nodes below waits until they have it again; values are deleted.
    func noteLost(_ top: NodeRow) {
        guard notesChanges else { return }
        var waiting: [StoredRow] = []
        for row in nodes.subtree(of: top) {
            let key = nodes.key(of: row)
            if nodes[row].part?.isStored == true, let value = writtenRow(of: row) {
                waiting.append(StoredRow(key: key, name: "", revision: 0, value: value))
            }
            for id in nodes[row].part?.removed.sorted().texts ?? [] {
                waiting.append(
                    StoredRow(key: key + "/" + StoredKey.escape(id), name: "", revision: 0, value: ["removed": true]))
            }
            forgetRows(of: row)
            // These rows stay when the node is freed.
            if nodes[row].part?.removed.isEmpty == false { nodes[row].part?.removed = [] }
        }
        for row in waiting {
            absentRows.insert(row)
            note(StoreChange(key: row.key, name: "", value: row.value))
        }
    }

    /// Deletes the rows of a node that were written up to a revision.
    func forgetRows(of row: NodeRow, upTo revision: UInt64? = nil) {
        let node = nodes[row]
        guard node.hasValues || node.part != nil else { return }
        let key = nodes.key(of: row)
        if node.hasValues || node.part?.isStored == true {
            note(StoreChange(key: key, name: nil, value: nil, revision: revision))
        }
        node.hasValues = false
        node.part?.isStored = false
        guard let part = node.part, !part.removed.isEmpty else { return }
        for id in part.removed.sorted().texts {
            note(StoreChange(key: key + "/" + StoredKey.escape(id), name: nil, value: nil, revision: revision))
        }
    }
}

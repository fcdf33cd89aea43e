import AttributeValues
import SceneModel
import TestSupport
import Testing

@testable import ViewGraph

/// A tree whose nodes hold nothing.
struct Grove {
    let tree = Tree<NodeRecord>()

    init() { _ = make("", .group, under: 0, .content) }

    private func make(_ id: String, _ kind: NodeKind, under parent: NodeRow, _ slot: Slot) -> NodeRow {
        tree.insert {
            NodeRecord(
                id: Name(id), kind: kind, slot: slot, generation: $0, parent: parent, definition: NodeDefinition(),
                isScopeBoundary: false)
        }
    }

    @discardableResult
    func add(
        _ id: String, _ kind: NodeKind = .group, under parent: NodeRow = 0, _ slot: Slot = .content,
        at place: Int? = nil
    ) -> NodeRow {
        let row = make(id, kind, under: parent, slot)
        tree.attach(row, to: parent, at: place)
        return row
    }

    func ids(below parent: NodeRow) -> [String] { tree[parent].children.map { tree[$0].id.text } }
}

@Suite("the tree")
struct TreeTests {
    @Test("a row that is used again has another id, also after its memory was given back") func generations() {
        let grove = Grove()
        func add() -> NodeID {
            let row = grove.add("a")
            return grove.tree.nodeID(row)
        }
        let first = add()
        grove.tree.detach(first.row)
        grove.tree.remove(first.row)
        let second = add()
        #expect(second.row == first.row && second != first)
        #expect(!grove.tree.isAlive(first) && grove.tree.isAlive(second))
        grove.tree.detach(second.row)
        grove.tree.remove(second.row)
        grove.tree.giveBack()
        let third = add()
        #expect(third.row == first.row && ![first, second].contains(third) && !grove.tree.isAlive(second))
        #expect(grove.tree.count == 2 && Array(grove.tree.living) == [.root, third.row])
    }

    @Test("children of a section stand in its parts, whatever place is asked for") func sections() {
        let grove = Grove()
        let section = grove.add("s", .section)
        grove.add("c1", under: section)
        grove.add("f", under: section, .footer)
        let moved = grove.add("h", under: section, .header)
        grove.add("c2", under: section, at: 9)
        grove.add("c0", under: section, at: 0)
        #expect(grove.ids(below: section) == ["h", "c0", "c1", "c2", "f"])
        grove.tree.put(moved, into: .footer)
        #expect(grove.ids(below: section) == ["c0", "c1", "c2", "f", "h"])
        grove.tree.move(moved, to: 0, at: 0)
        #expect(grove.tree[moved].slot == .content && grove.ids(below: 0) == ["h", "s"])
    }

    @Test("a number of a sibling is known to its parent wherever it moves") func numbers() {
        let grove = Grove()
        let (a, b) = (grove.add("a"), grove.add("b"))
        let child = grove.add("c", under: a)
        grove.tree.number(child)
        #expect(grove.tree[a].hasNumberedChildren && !grove.tree[b].hasNumberedChildren)
        grove.tree.move(child, to: b, at: nil)
        #expect(grove.tree[b].hasNumberedChildren)
    }

    @Test("a stretch of children is replaced; those that are gone are no longer found") func stretches() {
        let grove = Grove()
        let list = grove.add("list", .forEach)
        let old = (0..<20).map { grove.add("e\($0)", under: list) }
        let new = grove.add("new", under: list)
        grove.tree.replace(3..<6, with: [old[5], new], gone: [old[3], old[4]], below: list)
        #expect(grove.ids(below: list) == ["e0", "e1", "e2", "e5", "new"] + (6..<20).map { "e\($0)" })
        #expect(grove.tree.child("e3", of: list) == nil && grove.tree.child("new", of: list) == new)
    }

    /// The same acts on a tree and on a plain list of paths.
    @Test("paths, order, depth and look-up agree with a model", arguments: freshSeeds(20)) func random(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let grove = Grove()
        var children: [NodeRow: [NodeRow]] = [0: []]
        var parents: [NodeRow: NodeRow] = [:]
        var ids: [NodeRow: String] = [0: ""]
        for step in 0..<300 {
            let rows = children.keys.sorted()
            let row = rows.randomElement(using: &random) ?? 0
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<6:
                let place = Int.random(in: 0...(children[row]?.count ?? 0), using: &random)
                let made = grove.add("n\(step)", under: row, at: place)
                children[row]?.insert(made, at: place)
                (children[made], parents[made], ids[made]) = ([], row, "n\(step)")
            case 6..<8:
                guard row != 0, let target = rows.randomElement(using: &random), !grove.tree.isInside(target, of: row)
                else { continue }
                children[parents[row] ?? 0]?.removeAll { $0 == row }
                children[target]?.append(row)
                parents[row] = target
                grove.tree.move(row, to: target, at: nil)
            default:
                guard row != 0, let parent = parents[row] else { continue }
                grove.tree.detach([row], from: parent)
                children[parent]?.removeAll { $0 == row }
                for gone in grove.tree.subtree(of: row).reversed() {
                    grove.tree.remove(gone)
                    (children[gone], parents[gone], ids[gone]) = (nil, nil, nil)
                }
            }
        }
        #expect(Set(grove.tree.living) == Set(children.keys) && grove.tree.count == children.count)
        for (row, expected) in children {
            #expect(grove.tree[row].children == expected)
            for (place, child) in expected.enumerated() {
                #expect(
                    grove.tree.child(Name(ids[child] ?? ""), of: row) == child && grove.tree.index(of: child) == place)
            }
            var way: [NodeRow] = [row]
            while let last = way.last, let parent = parents[last] { way.append(parent) }
            #expect(Array(grove.tree.upward(from: row)) == way && grove.tree.depth(of: row) == way.count - 1)
            let path = "/" + way.dropLast().reversed().map { ids[$0] ?? "" }.joined(separator: "/")
            #expect(grove.tree.path(of: row) == path)
        }
        let levels = grove.tree.subtree(of: 0, depth: 2)
        #expect(levels.allSatisfy { grove.tree.depth(of: $0.row) == $0.level })
        #expect(grove.tree.levels(of: 0) == (children.keys.map { grove.tree.depth(of: $0) }.max() ?? 0) + 1)
    }
}

@Suite("subviews")
struct SubviewTests {
    @Test("groups and lists are looked through; views and containers are not") func subviews() {
        let grove = Grove()
        let top = grove.add("top", .container)
        let group = grove.add("group", under: top)
        let list = grove.add("list", .forEach, under: group)
        let a = grove.add("a", .view, under: list)
        let inner = grove.add("inner", .container, under: top)
        let b = grove.add("b", .view, under: inner)
        #expect(grove.tree.subviews(of: top) == [a, inner] && grove.tree.subviews(of: inner) == [b])
        #expect(grove.tree.container(of: a) == top && grove.tree.container(of: b) == inner)
        #expect(grove.tree.container(of: top) == 0)
        #expect(grove.tree.wrappers(of: a, in: top) == [a, list, group])
        #expect(grove.tree.id(ofSubview: a, in: top) == "group/list/a")
        #expect(grove.tree.id(ofSubview: inner, in: top) == "inner")
    }

    @Test("runs of subviews outside any section are sections of their own") func sections() {
        let grove = Grove()
        let a = grove.add("a", .view)
        let section = grove.add("s", .section)
        let header = grove.add("h", .view, under: section, .header)
        let b = grove.add("b", .view, under: section)
        let (c, d) = (grove.add("c", .view), grove.add("d", .view))
        let groups = grove.tree.sections(of: 0)
        #expect(groups == [SectionGroup(loose: [a]), SectionGroup(section: section), SectionGroup(loose: [c, d])])
        func subviews(_ group: Int, _ slot: Slot) -> [NodeRow] { grove.tree.subviews(of: groups[group], in: slot) }
        #expect(subviews(1, .header) == [header] && subviews(1, .content) == [b])
        #expect(subviews(2, .content) == [c, d] && subviews(2, .footer) == [])
    }
}

import AttributeGraph

/// A row of the table of scopes: a tree of sibling lists, each with a list of attributes. The row of a destroyed scope
/// has the generation of its next scope, which no id has yet.
@usableFromInline
struct ScopeRow: BitwiseCopyable {
    @usableFromInline var generation: UInt32
    @usableFromInline var parent: UInt32
    @usableFromInline var firstChild: UInt32 = 0
    @usableFromInline var nextSibling: UInt32 = 0
    @usableFromInline var previousSibling: UInt32 = 0
    /// The newest attribute; the list goes from young to old. The root has no list: its attributes live as long as the
    /// graph.
    @usableFromInline var firstAttribute: UInt32 = 0
    /// The innermost run in which the scope was made; 0: none.
    @usableFromInline let maker: UInt32
    /// The attribute whose runs create the content of the scope; 0: none.
    @usableFromInline var owner: UInt32 = 0

    @inlinable
    init(generation: UInt32, parent: UInt32, maker: UInt32) {
        self.generation = generation
        self.parent = parent
        self.maker = maker
    }
}

extension ClosureTable {
    @inlinable
    func isAlive(_ scope: ScopeID) -> Bool {
        scope.index < UInt32(truncatingIfNeeded: scopes.count)
            && scopes.base[Int(scope.index)].generation == scope.generation
    }

    @inlinable
    func scope(at index: UInt32) -> ScopeID { ScopeID(index: index, generation: scopes.base[Int(index)].generation) }

    @inlinable
    mutating func makeScope(in parent: ScopeID, maker: UInt32) -> ScopeID {
        precondition(isAlive(parent), "a scope needs a living parent")
        let index: UInt32
        if freeScope != 0 {
            index = freeScope
            freeScope = scopes.base[Int(index)].nextSibling
            let generation = scopes.base[Int(index)].generation
            scopes.base[Int(index)] = ScopeRow(generation: generation, parent: parent.index, maker: maker)
        } else {
            index = UInt32(scopes.count)
            scopes.append(ScopeRow(generation: 1, parent: parent.index, maker: maker))
        }
        let sibling = scopes.base[Int(parent.index)].firstChild
        scopes.base[Int(index)].nextSibling = sibling
        if sibling != 0 { scopes.base[Int(sibling)].previousSibling = index }
        scopes.base[Int(parent.index)].firstChild = index
        return scope(at: index)
    }

    /// Frees the row of an empty scope, unless it has no generations left.
    @inlinable
    mutating func removeScope(at index: UInt32) {
        let row = scopes.base[Int(index)]
        let (next, previous) = (row.nextSibling, row.previousSibling)
        if next != 0 { scopes.base[Int(next)].previousSibling = previous }
        if previous != 0 {
            scopes.base[Int(previous)].nextSibling = next
        } else {
            scopes.base[Int(row.parent)].firstChild = next
        }
        scopes.base[Int(index)].owner = 0
        scopes.base[Int(index)].generation &+= 1
        if scopes.base[Int(index)].generation == UInt32.max { return }
        scopes.base[Int(index)].nextSibling = freeScope
        freeScope = index
    }

    /// Puts a new attribute into a scope other than the root.
    @inlinable
    func enlist(_ index: UInt32, in scope: UInt32) {
        let next = scopes.base[Int(scope)].firstAttribute
        row(index).pointee.scope = scope
        row(index).pointee.next = next
        if next != 0 { row(next).pointee.previous = index }
        scopes.base[Int(scope)].firstAttribute = index
    }

    /// Removes an attribute from its scope.
    @inlinable @inline(__always)
    func delist(_ index: UInt32) {
        let scope = Int(row(index).pointee.scope)
        if scope == 0 { return }
        let (next, previous) = (row(index).pointee.next, row(index).pointee.previous)
        if scopes.base[scope].firstAttribute == index {
            scopes.base[scope].firstAttribute = next
        } else {
            row(previous).pointee.next = next
            if next != 0 { row(next).pointee.previous = previous }
        }
        row(index).pointee.scope = 0
    }
}

extension GraphContext {
    @inlinable
    public func isAlive(_ scope: ScopeID) -> Bool { table.pointee.isAlive(scope) }

    /// The scope of a living attribute.
    public func scope(of attribute: AttributeID) -> ScopeID {
        precondition(core.isAlive(attribute), "a destroyed attribute is in no scope")
        if Int(attribute.index) >= table.pointee.capacity { return .root }
        return table.pointee.scope(at: table.pointee.row(attribute.index).pointee.scope)
    }

    /// The scope around a living one; for the root, the root.
    public func parent(of scope: ScopeID) -> ScopeID {
        table.pointee.scope(at: table.pointee.scopes.base[Int(scope.index)].parent)
    }

    /// The living attributes directly in a scope, oldest first. Empty for the root, which has no list.
    public func attributes(of scope: ScopeID) -> [AttributeID] {
        guard isAlive(scope) else { return [] }
        var list: [AttributeID] = []
        var index = table.pointee.scopes.base[Int(scope.index)].firstAttribute
        while index != 0 {
            if !core.isCondemned(index) { list.append(core.attribute(at: index)) }
            index = table.pointee.row(index).pointee.next
        }
        return list.reversed()
    }

    /// The scopes directly inside a living one, the youngest first.
    public func children(of scope: ScopeID) -> [ScopeID] {
        var list: [ScopeID] = []
        guard isAlive(scope) else { return list }
        var index = table.pointee.scopes.base[Int(scope.index)].firstChild
        while index != 0 {
            list.append(table.pointee.scope(at: index))
            index = table.pointee.scopes.base[Int(index)].nextSibling
        }
        return list
    }

    /// Destroys an attribute, but not what it owns.
    @inlinable
    func destroy(_ attribute: AttributeID) {
        let index = attribute.index
        if core.stackDepth == 0 || Int(index) >= table.pointee.capacity { return core.destroy(attribute) }
        let maker = table.pointee.scopes.base[Int(table.pointee.row(index).pointee.scope)].maker
        // The row is freed later, but the attribute leaves its scope at once.
        table.pointee.delist(index)
        core.destroy(attribute, sparing: core.isRunningRule(maker) ? maker : 0)
    }

    /// Destroys a scope with its content, inner scopes first, and in each the youngest attribute first. Meanwhile,
    /// objects that the destroyed closures free may add to the scope or destroy it. O(attributes + edges + vertices
    /// marked outside).
    @inlinable
    func destroy(_ scope: ScopeID) {
        precondition(scope.index != 0, "the root lives as long as the graph")
        var current = scope
        while isAlive(scope) {
            if !isAlive(current) { current = scope }
            let place = Int(current.index)
            while case let index = table.pointee.scopes.base[place].firstAttribute, index != 0,
                table.pointee.scopes.base[place].firstChild == 0,
                table.pointee.scopes.base[place].generation == current.generation
            {
                destroy(core.attribute(at: index))
            }
            guard isAlive(current) else { continue }
            let row = table.pointee.scopes.base[place]
            if row.firstChild != 0 {
                current = table.pointee.scope(at: row.firstChild)
            } else {
                table.pointee.removeScope(at: current.index)
                current = table.pointee.scope(at: row.parent)
            }
        }
    }
}

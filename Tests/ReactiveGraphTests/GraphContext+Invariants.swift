import TestSupport
import AttributeGraph

@testable import ReactiveGraph

extension GraphContext {
    /// Checks the invariants of scopes while nothing runs, as `GraphCore.checkInvariants` does for the engine's tables.
    func checkScopes() -> [String] {
        var faults: [String] = []
        let (rows, count) = (table.pointee.scopes.base, table.pointee.scopes.count)
        var reached: [UInt32] = [0]
        var next = 0
        while next < reached.count && reached.count <= count {
            let scope = reached[next]
            next += 1
            var (child, previous) = (rows[Int(scope)].firstChild, UInt32(0))
            while child != 0 && reached.count <= count {
                let row = rows[Int(child)]
                if row.parent != scope || previous != 0 && row.previousSibling != previous {
                    faults.append("scope \(child) is in the wrong list")
                }
                reached.append(child)
                (previous, child) = (child, row.nextSibling)
            }
            var (index, before, length) = (rows[Int(scope)].firstAttribute, UInt32(0), UInt64(0))
            while index != 0 && length <= core.counters.liveAttributes {
                let row = table.pointee.row(index).pointee
                if row.scope != scope || before != 0 && row.previous != before
                    || !core.isAlive(core.attribute(at: index))
                {
                    faults.append("attribute \(index) is in the wrong list")
                }
                (before, index) = (index, row.next)
                length += 1
            }
        }
        var free = (0..<count).count { rows[$0].generation == .max }
        var row = table.pointee.freeScope
        while row != 0 && free <= count {
            free += 1
            row = rows[Int(row)].nextSibling
        }
        if reached.count + free != count { faults.append("\(count - reached.count - free) scopes are nowhere") }
        return faults
    }
}

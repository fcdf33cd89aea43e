import AttributeGraph
import AttributeValues

/// How many edges and watches have ever begun and ended.
struct UseCounts: Equatable {
    var begun: UInt64
    var ended: UInt64
}

/// The shared vertices that a sweep has to look at: places in values and clocks, each of which is
/// one vertex for all that use it.
///
/// A use is a source that names the vertex, a reader of the engine, or a watch. Sources are
/// counted, because a rule that has not run yet has no edges. When the last source goes, a watch
/// ends or a reader is destroyed, the vertex is noted as idle, and the next sweep frees it if it
/// has no use. A rule that reads another key than before only drops an edge, which the engine
/// reports to nobody. Therefore a sweep looks at all loose vertices, which no source names, once as
/// many uses have ended as there are such vertices.
struct SharedVertices {
    private var idle: [AttributeID] = []
    private var loose: [AttributeID] = []
    /// `UseCounts.ended` when `loose` was last taken.
    private var endedAtSweep: UInt64 = 0

    /// The loose vertices are not looked at before so many uses have ended.
    private static let leastEnded = 64

    var hasIdle: Bool { !idle.isEmpty }
    var hasLoose: Bool { !loose.isEmpty }
    var isEmpty: Bool { idle.isEmpty && loose.isEmpty }

    /// Notes a vertex that may have lost all its uses.
    mutating func noteIdle(_ vertex: AttributeID) { idle.append(vertex) }

    /// Notes a vertex that no source names, but that somebody reads or watches.
    mutating func noteLoose(_ vertex: AttributeID) { loose.append(vertex) }

    /// The vertices to look at now. A vertex that stays is noted again.
    mutating func takeIdle() -> [AttributeID] {
        defer { idle = [] }
        return idle
    }

    /// The loose vertices, if it is time to look at them.
    mutating func takeLoose(_ uses: UseCounts) -> [AttributeID] {
        guard uses.ended &- endedAtSweep >= UInt64(max(SharedVertices.leastEnded, loose.count)) else { return [] }
        endedAtSweep = uses.ended
        defer { loose = [] }
        return loose
    }

    mutating func giveBack() {
        idle.giveBack()
        loose.giveBack()
    }
}

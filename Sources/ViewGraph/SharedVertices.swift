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
    /// Uses that had ended at the last look at `loose`.
    private var endedAtSweep: UInt64 = 0

    /// Fewer uses that have ended are not worth a look at the loose vertices.
    private static let leastEnded = 64

    var hasLoose: Bool { !loose.isEmpty }
    var isEmpty: Bool { idle.isEmpty && loose.isEmpty }

    /// A vertex may have lost all its uses.
    mutating func noteIdle(_ vertex: AttributeID) { idle.append(vertex) }

    /// No source names a vertex, but somebody reads or watches it.
    mutating func noteLoose(_ vertex: AttributeID) { loose.append(vertex) }

    /// The vertices to look at now; each is noted again if it stays.
    mutating func takeIdle() -> [AttributeID] {
        defer { idle = [] }
        return idle
    }

    /// The loose vertices, when it is time to look at them.
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

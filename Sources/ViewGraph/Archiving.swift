import AttributeGraph
import AttributeValues
import SceneModel

// What an archive gets to know, beside the changes for the store: the values of transient states, reports, and images.

/// The writes that operators hear of although the value may have stayed, of the transactions since the last `take`.
struct KeptReports {
    private(set) var reports: [KeptReport] = []

    mutating func note(_ done: OpenTransaction) {
        for place in done.reports { reports.append(KeptReport(state: place.attribute, steps: place.steps)) }
        for (state, written) in done.entries {
            switch written {
            case .all: reports.append(KeptReport(state: state, entries: []))
            case .keys(let keys): reports.append(KeptReport(state: state, entries: keys))
            }
        }
    }

    mutating func take() -> [KeptReport] {
        if reports.isEmpty { return [] }
        defer { reports = [] }
        return reports
    }
}

/// A report of a place in a state, or of entries of a state with `entries`.
public struct KeptReport {
    public var state: AttributeID
    public var steps: [AttributePath.Step] = []
    /// nil: a report of the place. Empty: of all entries.
    public var entries: [Value]?

    public init(state: AttributeID, steps: [AttributePath.Step] = [], entries: [Value]? = nil) {
        (self.state, self.steps, self.entries) = (state, steps, entries)
    }
}

extension Wiring {
    /// True for a state whose changes are noted.
    func isKept(_ state: AttributeID) -> Bool {
        guard case .state(let isTransient)? = attributes[state]?.source else { return false }
        return !isTransient || keepsTransient && !isLeftOut(state)
    }

    /// The receiver of a kept state's value: the store, the archive, or both.
    func receiver(of state: AttributeID) -> StoreChange.Receiver {
        if !isDurable(state) { return .archive }
        return keepsTransient && isLeftOut(state) ? .store : .all
    }

    /// True if its definition, that of the state whose object it belongs to, or a node around it says `past: false`.
    public func isLeftOut(_ state: AttributeID) -> Bool {
        var record = record(state)
        while true {
            if record.definition?.isLeftOutOfPast == true { return true }
            let node = nodes[record.node]
            guard node.isObject, let owner = ownAttribute(node.id.text, of: node.parent) else {
                return nodes.upward(from: record.node).contains { nodes[$0].definition.isLeftOutOfPast }
            }
            record = self.record(owner)
        }
    }

    /// The key of the node that a state belongs to, and the name of the state there; nil if it is out of the tree. From
    /// now on images have the values of this node.
    /// - Returns: with the path, if it is not the key and the name.
    public func storedPlace(ofState state: AttributeID) -> (key: String, name: String, path: String?)? {
        guard engine.isAlive(state), isState(state) else { return nil }
        let (row, name) = storePlace(of: state)
        guard nodes.isLinked(row) else { return nil }
        nodes[row].hasValues = true
        let isPath = nodes.hasKeyAsPath(row) && AttributePath.isBare(name)
        return (nodes.key(of: row), name, isPath ? nil : path(of: state))
    }

    /// The value of a state, also of a stale one; nil if its first value could not be computed.
    public func keptValue(of state: AttributeID) -> Value? {
        if case .value(let value) = contentForWatcher(of: state) { return value }
        return content(ofStored: state).value
    }
}

extension ViewGraph {
    /// The reports of transactions since the last call.
    public func takeReports() -> [KeptReport] { keptReports.take() }

    /// The kept state of a name at the node of a key; nil if there is none.
    public func keptState(_ name: String, atKey key: String) -> AttributeID? {
        nodes.row(ofKey: key).flatMap { stored.keptState(name, of: $0) }
    }

    /// True if a state is in the tree.
    public func isPlaced(_ state: AttributeID) -> Bool {
        engine.isAlive(state) && isState(state) && nodes.isLinked(storePlace(of: state).row)
    }

    /// Begins the operators' clock again, at another moment.
    public func beginTime(at wall: Timestamp, elapsed: TimeSpan, from rows: [StoredRow]) {
        timedValues.beginTime(at: wall, elapsed: elapsed)
        resumeTime(from: rows)
    }

    /// Sets the operators' clock to that of an image, before operators are made.
    /// - Parameter rows: those of the image.
    public func resumeTime(from rows: [StoredRow]) {
        for row in rows where row.key.hasSameBytes(as: StoreChange.timeKey) { timedValues.resumeTime(from: row.value) }
    }

    public func hasNode(atKey key: String) -> Bool { nodes.row(ofKey: key) != nil }

    /// Performs writes that were performed once, with the reports that operators heard of.
    public func replay(_ writes: [(state: AttributeID, value: Value)], _ reports: [KeptReport]) {
        begin()
        for (state, value) in writes {
            forgetSize(of: state)
            transaction?.stage(value, for: state, nil)
            nodes[storePlace(of: state).row].hasValues = true
        }
        for report in reports {
            if let entries = report.entries {
                transaction?.noteEntries(entries.isEmpty ? .all : .keys(entries), of: report.state)
            } else {
                transaction?.noteReport(of: Place(report.state, report.steps))
            }
        }
        _ = commit()
    }

    /// Adds the rows of an image: all that a start needs to make the graph as it is now, apart from declarations.
    /// - Parameters:
    ///   - node: the first row of the tree to look at. Afterwards: the next one.
    ///   - count: so many nodes are looked at.
    /// - Returns: false if that was all.
    public func addImage(from node: inout UInt32, atMost count: Int, to rows: inout [StoreChange]) -> Bool {
        let end = UInt32(clamping: min(Int(node) + count, nodes.rowCount))
        while node < end {
            let row = NodeRow(index: node)
            node += 1
            guard nodes.isAlive(row), nodes.isLinked(row) else { continue }
            let record = nodes[row]
            if record.isObject { continue }
            if record.part?.isStored == true, let value = persistence.writtenRow(of: row) {
                rows.append(StoreChange(key: nodes.key(of: row), name: "", value: value))
            }
            for id in record.part?.removed.sorted().texts ?? [] {
                let key = nodes.key(of: row) + "/" + StoredKey.escape(id)
                rows.append(StoreChange(key: key, name: "", value: ["removed": true]))
            }
            guard record.hasValues else { continue }
            if record.instances?.isFrozen == true, let list = record.instances?.list {
                rows.append(
                    StoreChange(key: nodes.key(of: row), name: Persistence.frozenName, value: .list(list)))
            }
            for state in keptStates(of: [row]) where receiver(of: state) != .store && stored.isWritten(state) {
                guard let value = keptValue(of: state) else { continue }
                rows.append(
                    StoreChange(key: nodes.key(of: row), name: storePlace(of: state).name, value: value))
            }
        }
        if Int(node) < nodes.rowCount { return true }
        for value in timedValues.all {
            value.past.count(until: timedValues.now)
            guard let place = storedPlace(of: value), let row = value.past.row(from: timedValues.time.origin) else {
                continue
            }
            rows.append(StoreChange(key: nodes.key(of: place.row), name: place.name, value: row))
        }
        rows.append(
            StoreChange(key: StoreChange.timeKey, name: StoreChange.timeName, value: timedValues.time.imageRow))
        for absent in persistence.absentRows.present {
            for row in absent.rows { rows.append(StoreChange(key: row.key, name: row.name, value: row.value)) }
        }
        return false
    }
}

extension StoredValues {
    /// Notes a value that the daemon itself has set.
    public func keepSystemValue(_ name: String) {
        if let state = graph.ownAttribute(name, of: .root) { keep([state]) }
    }
}

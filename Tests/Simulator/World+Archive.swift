import Archive
import AttributeValues
import CSimulatedKernel
import DaemonServer
import GraphRuntime
import Replay
import TestSupport
import WireProtocol

// What the archive says of the world, as another program reads it.
extension World {
    static let archiveSize = 1 << 20
    static let archiveFolder = "/sim/state/archive"

    /// [the archive] Each recorded write has the value that the state got at that revision. What a segment with an end
    /// leaves behind is what was there then, and nothing is missing.
    func judgeArchive() {
        guard hasArchive, !isOver else { return }
        sim_be_another(true)
        defer { sim_be_another(false) }
        for segment in Segment.all(in: World.archiveFolder) where faults.isEmpty {
            // A power cut may leave a file without a sound batch.
            guard let reader = SegmentReader(segment.number, in: World.archiveFolder), reader.basis.epoch == epoch
            else {
                continue
            }
            do throws(Failure) {
                var image = ArchivedStates(
                    Array(judgement.model.states.keys), judgement.truth, from: reader.basis, lives)
                while let record = try reader.next() {
                    archived += 1
                    if let difference = image.read(record) {
                        fault("[the archive] segment \(segment.number) says that \(difference)")
                    }
                }
                if reader.hasEnded, let difference = image.firstDifference {
                    fault("[the archive] segment \(segment.number) ends with \(difference)")
                }
            } catch { fault("[the archive] segment \(segment.number) cannot be read: \(error)") }
        }
    }

    /// [the past] At a random revision, the graph of the past has the values that clients were told then.
    func judgePast() {
        guard hasArchive, !isOver else { return }
        sim_be_another(true)
        defer { sim_be_another(false) }
        var revisions: [(from: Int64, to: UInt64)] = []
        for segment in Segment.all(in: World.archiveFolder) {
            guard let reader = SegmentReader(segment.number, in: World.archiveFolder), reader.basis.epoch == epoch
            else { continue }
            var hasImage = false
            // From the last record before a stretch on, not every value of a state is kept.
            var (last, exact): ([ObjectIdentifier: UInt64], UInt64) = ([:], .max)
            let first = revisions.count
            try? reader.read { record in
                switch record {
                case .imageEnds: hasImage = true
                case .write(let state, _, _): last[ObjectIdentifier(state)] = reader.last.revision
                case .burst(let state, _, _, _, _, _): exact = min(exact, last[ObjectIdentifier(state)] ?? 0)
                case .transaction(let transaction)
                where hasImage && transaction.author != nil && transaction.isRevision:
                    revisions.append((Int64(reader.basis.revision), transaction.revision))
                default: break
                }
                return true
            }
            while revisions.count > first, let revision = revisions.last, revision.to > exact { revisions.removeLast() }
        }
        guard !revisions.isEmpty else { return }
        var graph: PastGraph?
        for _ in 0..<3 where faults.isEmpty {
            let (from, to) = revisions[generator.below(revisions.count)]
            do throws(Failure) {
                let past = Past(folder: World.archiveFolder, access: AccessRules(), limits: configuration.runtime)
                let time = PastTime.revision(to, epoch: epoch)
                let client = ClientID(number: 1)
                let made: PastGraph
                if let graph {
                    try graph.seek(to: time)
                    made = graph
                } else {
                    made = try PastGraph(past, at: time, for: PastClient(client, Peer(pid: 1, uid: 0, gid: 0))) { 0 }
                    graph = made
                }
                judge(World.contents(of: made, client), at: Int64(to), from: from)
            } catch { fault("[the past] revision \(to) cannot be shown: \(error)") }
        }
    }

    private static func contents(of graph: PastGraph, _ client: ClientID) -> [String: Value] {
        var found: [String: Value] = [:]
        for case .reply(_, _, .contents(let contents, _, _)) in graph.apply([
            .call(client, id: .int(1), .get(.init(paths: ["/**", "/w.o.x", "/w.o.y"])))
        ]) {
            for (path, content) in contents {
                found[path] =
                    switch content {
                    case .value(let value): ["value": value]
                    case .failure(let failure): ["error": .string(failure.code.rawValue)]
                    }
            }
        }
        return found
    }

    private func judge(_ found: [String: Value], at revision: Int64, from begin: Int64) {
        let truth = judgement.truth
        for path in truth.allPaths.sorted() where !["/wills.", "/t.", Model.past].contains(where: path.hasPrefix) {
            guard truth.isKnown(path, revision), truth.isEverKnown(path, in: begin...revision),
                let wanted = truth.content(of: path, at: revision), wanted != ["error": "limit"]
            else { continue }
            compared += 1
            if found[path]?.jsonText != wanted.jsonText {
                let shown = found[path]?.jsonText.prefix(100) ?? "not there"
                fault("[the past] \(path) at \(revision) is \(shown) and not \(wanted.jsonText.prefix(100))")
                return
            }
        }
    }
}

/// The states that the records of a segment have written.
private struct ArchivedStates {
    private let truth: WatchTruth
    /// States, apart from those that nobody can know and transient ones, which begin anew without a record.
    private let known: Set<String>
    /// The revision of the first transaction of a client. What a life begins with has no records.
    private var begun: Int64
    private var hasBegun = false
    /// The first revisions of lives of which all is known. What the daemon does before does not count.
    private let lives: [Int64]
    private var revision: Int64
    /// By the key of the node and the name.
    private var states: [String: [String: (path: String, value: Value)]] = [:]

    init(_ states: [String], _ truth: WatchTruth, from basis: SegmentBasis, _ lives: [Int64]) {
        self.truth = truth
        self.lives = lives
        known = Set(states).filter { path in !["/wills.", "/t.", Model.past].contains { path.hasPrefix($0) } }
        begun = Int64(basis.revision)
        self.revision = begun
    }

    /// - Returns: what is wrong with the record.
    mutating func read(_ record: Record) -> String? {
        switch record {
        case .transaction(let transaction):
            revision = Int64(transaction.revision)
            if transaction.author != nil, !hasBegun { (begun, hasBegun) = (revision - 1, true) }
        case .write(let state, let value, _):
            states[state.key, default: [:]][state.name] = (state.path, value)
            return difference(state.path, value)
        case .burst(let state, _, _, _, _, let last): states[state.key, default: [:]][state.name] = (state.path, last)
        case .row(let key, let name?, let value, _) where !key.hasPrefix("@"):
            guard var state = states[key]?[name] else { return nil }
            state.value = value ?? .null
            states[key]?[name] = value == nil ? nil : state
        case .row(let key, nil, _, _): states[key] = nil
        default: break
        }
        return nil
    }

    private func difference(_ path: String, _ value: Value?) -> String? {
        guard known.contains(path), truth.isKnown(path, revision), truth.isEverKnown(path, in: begun...revision),
            let wanted = truth.content(of: path, at: revision), wanted != value.map({ ["value": $0] })
        else { return nil }
        return
            "\(path) at \(revision) is \(value?.jsonText.prefix(100) ?? "unknown") and not \(wanted.jsonText.prefix(100))"
    }

    /// Of the states that were written, and of those that should have been.
    var firstDifference: String? {
        let begun = lives.last { (self.begun...revision).contains($0) } ?? self.begun
        let written = Dictionary(states.values.flatMap(\.values).map { ($0.path, $0.value) }) { $1 }
        for path in known.sorted() where hasBegun {
            if written[path] == nil {
                // A state that has come since begins with its initial value, which has no record.
                if truth.hasHad(path, in: begun...revision, { $0 == nil })
                    || truth.content(of: path, at: begun) == truth.content(of: path, at: revision)
                {
                    continue
                }
            }
            if let difference = difference(path, written[path]) { return difference }
        }
        return nil
    }
}

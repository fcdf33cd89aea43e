@testable import Archive
import AttributeValues
import Foundation
import GraphRuntime
import Replay
import SceneTesting
import ViewGraph
import WireProtocol
@testable import agd_past

/// A life with an archive. The test moves its clock.
final class RecordedLife {
    let daemon = VirtualDaemon(
        at: Moment(monotonic: 1000.25, wall: Timestamp("2026-01-31T23:59:30.123456789Z") ?? .epoch))
    let folder: String
    private let archive: Archive
    /// The tree as clients saw it, by revision.
    private(set) var trees: [UInt64: Value] = [:]

    /// - Parameter others: the rows of no node that the store had.
    init(_ scene: String, size: Int, others: [StoredRow] = []) throws {
        folder = NSTemporaryDirectory() + "agd-past-" + UUID().uuidString
        archive = try Archive(
            folder: folder, limits: Archive.Limits(size: size),
            basis: Archive.Basis(
                release: "1", epoch: "test", scenes: [("test.yaml", "agd: 1\n" + scene)],
                machine: ["timeZone": "Europe/Berlin"]),
            of: daemon.runtime.store, others: others)
        daemon.runtime.beginWith(["timeZone": "Europe/Berlin"])
        try daemon.runtime.load("agd: 1\n" + scene, file: "test.yaml")
        archive.begin(at: daemon.now, revision: 0)
        flush()
        daemon.connect(1)
        // Everything is watched, as a dashboard does.
        _ = daemon.call(.subscribe(.init(patterns: ["/**"])), from: 1)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    func flush() {
        repeat { archive.flush(at: daemon.now, revision: daemon.runtime.revision) } while archive.wait != nil
    }

    func call(_ request: Request) {
        _ = daemon.call(request, from: 1)
        while !daemon.postponed.isEmpty { daemon.turn(daemon.postponed) }
    }

    /// Moves the clock, and does what is due on the way.
    func wait(_ nanoseconds: Int64) {
        var left = nanoseconds
        while let next = daemon.wait, next.nanoseconds <= left {
            daemon.advanceClock(next)
            left -= next.nanoseconds
            daemon.turn([.woken])
            note()
            if next.nanoseconds == 0 { break }
        }
        daemon.advanceClock(TimeSpan(nanoseconds: left))
    }

    func set(_ path: String, _ value: Value) {
        call(.set(Mutation(operation: .set, path: path, value: value), .init()))
    }

    func note() {
        guard let value = RecordedLife.described(daemon.call(.describe(path: "/", depth: nil), from: 1)) else { return }
        if trees[daemon.runtime.revision] == nil { trees[daemon.runtime.revision] = value }
    }

    static func described(_ answer: Answer?) -> Value? {
        if case .value(let value)? = answer { value } else { nil }
    }

    var past: Past { Past(folder: folder, access: AccessRules(), limits: RuntimeLimits()) }
}

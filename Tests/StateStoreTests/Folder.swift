import Foundation
import GraphRuntime
import StateStore
import AttributeValues
import ViewGraph

/// A folder that goes with the test.
final class Folder {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "agd-store-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    var database: String { path + "/state.db" }

    var log: String { database + "-wal" }

    /// Opens the store. The lock of one that was closed just before may live on for a moment, in a process that another
    /// test is about to start: that is waited for, unless it is what the test wants to see.
    func open(
        recover: Bool = false, epoch: String = "e1", durability: StateStore.Durability = .off, basis: String = "",
        machine: String = "m1", isPatient: Bool = true
    ) throws -> (store: StateStore, restored: StateStore.Restored) {
        var left = isPatient ? 30_000 : 0
        while true {
            do throws(StoreError) {
                return try StateStore.open(
                    directory: path, durability: durability, basis: basis, machine: machine, recover: recover
                ) { epoch }
            } catch {
                guard case .inUse = error, left > 0 else { throw error }
                left -= 1
                poll(nil, 0, 1)
            }
        }
    }

    /// The files as they are on disk at this moment: what a killed daemon leaves behind.
    func copy() throws -> Folder {
        let copy = try Folder()
        for file in try FileManager.default.contentsOfDirectory(atPath: path) {
            try FileManager.default.copyItem(atPath: path + "/" + file, toPath: copy.path + "/" + file)
        }
        return copy
    }
}

/// Rows as text, to compare.
func texts(_ restored: StateStore.Restored) -> [String] { restored.rows.map { text($0) } }

func text(_ row: StoredRow) -> String {
    "\(row.revision) \(row.key)\(row.name.isEmpty ? "" : ".\(row.name)") \(row.value.typedJSON)"
}

extension StoreChange {
    /// A state's new value.
    static func put(_ key: String, _ name: String, _ value: Value) -> StoreChange {
        StoreChange(key: key, name: name, value: value)
    }

    /// The end of all rows of a node.
    static func gone(_ key: String) -> StoreChange { StoreChange(key: key, name: nil, value: nil) }
}

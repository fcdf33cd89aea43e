/// The work of a disk since the machine started (`/proc/diskstats`).
struct DiskTraffic: Equatable {
    var id: String
    /// Bytes.
    var read: Int64
    var written: Int64
    /// Operations.
    var reads: Int64
    var writes: Int64
    /// Milliseconds in which the disk had something to do.
    var busy: Int64
    /// True for a device that other disks carry, as a volume of LVM. Its bytes are also those of its disks.
    var isVirtual = false

    /// The file counts sectors of 512 bytes, whatever the sector size of the disk is.
    static let sector: Int64 = 512

    /// Whole disks that have been used, in the file's order. Partitions are omitted, because their disk counts the same
    /// bytes. Loop and memory devices are omitted too.
    static func read(_ diskstats: SystemText) -> [DiskTraffic] {
        var text = diskstats
        var disks: [DiskTraffic] = []
        while var line = text.line() {
            line.skip(2)
            // Reads, merged ones, sectors, ms; the same of writes; operations in flight, ms.
            guard let name = line.word(), let columns = line.numbers(10) else { continue }
            let disk = DiskTraffic(
                id: name, read: columns[2] * sector, written: columns[6] * sector, reads: columns[0],
                writes: columns[4], busy: columns[9])
            if disk.read > 0 || disk.written > 0 { disks.append(disk) }
        }
        let names = Set(disks.map(\.id))
        return disks.filter { disk in
            !["loop", "ram", "zram"].contains(where: disk.id.hasPrefix) && !isPartition(disk.id, of: names)
        }
    }

    /// `sda1` is a partition of `sda`, and `nvme0n1p2` of `nvme0n1`.
    private static func isPartition(_ name: String, of disks: Set<String>) -> Bool {
        var disk = Substring(name)
        while disk.last?.isNumber == true { disk.removeLast() }
        guard disk.count < name.count else { return false }
        if disks.contains(String(disk)) { return true }
        return disk.last == "p" && disks.contains(String(disk.dropLast())) && disk.dropLast().last?.isNumber == true
    }

    /// Its folder in `/sys`, where a name has `!` for a slash. Only hardware has the entry `device`.
    var device: String { "block/" + String(id.map { $0 == "/" ? "!" : $0 }) + "/device" }
}

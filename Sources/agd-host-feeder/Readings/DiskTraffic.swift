/// Bytes that a disk has read and written (`/proc/diskstats`).
struct DiskTraffic: Equatable {
    var id: String
    var read: Int64
    var written: Int64

    /// The file counts sectors of 512 bytes, whatever the sector size of the disk is.
    static let sector: Int64 = 512

    /// Whole disks that have been used, in the file's order. Partitions are omitted, because their disk counts the same
    /// bytes. Loop and memory devices are omitted too.
    static func read(_ diskstats: ProcText) -> [DiskTraffic] {
        var text = diskstats
        var disks: [DiskTraffic] = []
        while var line = text.line() {
            line.skip(2)
            guard let name = line.word(), let columns = line.numbers(7) else { continue }
            let disk = DiskTraffic(id: name, read: columns[2] * sector, written: columns[6] * sector)
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
}

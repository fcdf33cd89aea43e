/// `/proc/meminfo`, in bytes.
struct MemoryUse: Equatable {
    var total: Int64 = 0
    /// Memory that programs could still get without swapping.
    var available: Int64 = 0
    /// Pages of files. The kernel can drop them.
    var cached: Int64 = 0
    var swapTotal: Int64 = 0
    var swapFree: Int64 = 0

    /// nil if the file does not contain the total memory.
    static func read(_ meminfo: SystemText) -> MemoryUse? {
        var meminfo = meminfo
        var use = MemoryUse()
        while var line = meminfo.line() {
            guard let name = line.text(upTo: UInt8(ascii: ":")), let kibibytes = line.number() else { continue }
            let bytes = kibibytes * 1024
            switch name {
            case "MemTotal": use.total = bytes
            case "MemAvailable": use.available = bytes
            case "Cached": use.cached = bytes
            case "SwapTotal": use.swapTotal = bytes
            case "SwapFree": use.swapFree = bytes
            default: break
            }
        }
        return use.total > 0 ? use : nil
    }
}

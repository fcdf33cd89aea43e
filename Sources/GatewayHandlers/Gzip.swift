import CZlib

/// A stream in the format gzip.
///
/// The stream of zlib keeps its own address, so it lives in an allocation that this object frees.
final class Gzip {
    /// The answers of the daemon are compressed while streams wait, so speed counts more than size.
    enum Level: Int32 {
        case fast = 1
        case small = 9
    }

    private let stream: UnsafeMutablePointer<z_stream>

    /// - Parameter isSmall: use 48 KiB of memory instead of 260. A gateway has thousands of streams.
    init(_ level: Level, isSmall: Bool = false) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // 16 more bits of the window mean gzip.
        let code = deflateInit2_(
            stream, level.rawValue, Z_DEFLATED, 16 + (isSmall ? 12 : 15), isSmall ? 6 : 8, Z_DEFAULT_STRATEGY,
            ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        precondition(code == Z_OK, "zlib has memory and knows the parameters")
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    /// Compresses more bytes. The output contains all of them.
    /// - Parameter isLast: ends the stream. Nothing may be added after that.
    func add(_ bytes: UnsafeRawBufferPointer, isLast: Bool = false) -> [UInt8] {
        add(bytes, isLast ? Z_FINISH : Z_SYNC_FLUSH)
    }

    /// Compresses a part of what belongs together. The output may lack some of it until `add` is called.
    func begin(_ bytes: UnsafeRawBufferPointer) -> [UInt8] { add(bytes, Z_NO_FLUSH) }

    private func add(_ bytes: UnsafeRawBufferPointer, _ flush: Int32) -> [UInt8] {
        var output: [UInt8] = []
        // zlib reads the input only during this call, and declares it as mutable for no reason.
        stream.pointee.next_in = UnsafeMutablePointer(mutating: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
        stream.pointee.avail_in = UInt32(bytes.count)
        let space = Int(deflateBound(stream, UInt(bytes.count))) + 16
        repeat {
            output += Array(unsafeUninitializedCapacity: space) { part, count in
                stream.pointee.next_out = part.baseAddress
                stream.pointee.avail_out = UInt32(space)
                deflate(stream, flush)
                count = space - Int(stream.pointee.avail_out)
            }
        } while stream.pointee.avail_out == 0
        stream.pointee.next_in = nil
        return output
    }

    static func whole(_ bytes: [UInt8], _ level: Level) -> [UInt8] {
        bytes.withUnsafeBytes { Gzip(level).add($0, isLast: true) }
    }

    /// - Parameter header: the values of `Accept-Encoding`.
    static func isAccepted(_ header: [some StringProtocol]) -> Bool {
        let offers = header.map { $0.lowercased().filter { $0 != " " }.split(separator: ";") }
        guard let offer = offers.first(where: { $0.first == "gzip" }) ?? offers.first(where: { $0.first == "*" }) else {
            return false
        }
        return offer.first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } != 0
    }
}

import AttributeValues
import Glibc

/// A path in a request. Requests with the same path share the object.
public final class RequestPath {
    public let text: String
    /// JSON writes the path as it is.
    let isPlain: Bool
    /// The destination of the path. The code that follows the path may cache it here.
    public var destination: AnyObject?

    public init(_ text: String) {
        self.text = text
        isPlain = text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x22 && $0 != 0x5c }
    }
}

/// The paths of recent requests, by their bytes. Programs send the same paths again and again.
final class RequestPaths {
    /// An open-addressing table of the paths' hashes; 0 is a free slot. The number of slots is a power of two.
    private var hashes: [UInt64] = []
    private var paths: [RequestPath?] = []
    private var count = 0
    private var bytes = 0
    /// Random, so that clients cannot choose paths whose hashes collide.
    private let seed = UInt64.random(in: .min ... .max)
    private let factor = UInt64.random(in: .min ... .max) | 1

    /// The limits for the number of paths and their total bytes. When one is exceeded, all paths are dropped.
    private static let capacity = 131_072
    private static let totalBytes = 8 << 20
    private static let longest = 256

    /// - Parameter text: a string with a word readable behind its end.
    func path(_ text: UnsafeBufferPointer<UInt8>) -> RequestPath {
        if let found = known(text) { return found }
        let made = RequestPath(String(decoding: text, as: UTF8.self))
        if text.count <= RequestPaths.longest { insert(made, hash(of: text)) }
        return made
    }

    /// The path, if it has been named before.
    func known(_ text: UnsafeBufferPointer<UInt8>) -> RequestPath? {
        guard text.count <= RequestPaths.longest, let position = position(of: hash(of: text)),
            let found = paths[position],
            found.text.hasBytes(text)
        else { return nil }
        return found
    }

    func removeAll() {
        hashes = []
        paths = []
        count = 0
        bytes = 0
    }

    private func position(of hash: UInt64) -> Int? {
        guard count > 0 else { return nil }
        let mask = hashes.count - 1
        var position = Int(truncatingIfNeeded: hash >> 16) & mask
        while hashes[position] != 0 {
            if hashes[position] == hash { return position }
            position = (position + 1) & mask
        }
        return nil
    }

    /// Replaces another path with the same hash.
    private func insert(_ path: RequestPath, _ hash: UInt64) {
        if let position = position(of: hash) {
            paths[position] = path
            return
        }
        bytes += path.text.utf8.count
        if count == RequestPaths.capacity || bytes > RequestPaths.totalBytes {
            removeAll()
            bytes = path.text.utf8.count
        }
        if (count + 1) * 2 > hashes.count { grow() }
        count += 1
        put(path, hash)
    }

    private func put(_ path: RequestPath?, _ hash: UInt64) {
        let mask = hashes.count - 1
        var position = Int(truncatingIfNeeded: hash >> 16) & mask
        while hashes[position] != 0 { position = (position + 1) & mask }
        hashes[position] = hash
        paths[position] = path
    }

    private func grow() {
        let old = (hashes, paths)
        hashes = [UInt64](repeating: 0, count: max(64, old.0.count * 2))
        paths = [RequestPath?](repeating: nil, count: hashes.count)
        for (hash, path) in zip(old.0, old.1) where hash != 0 { put(path, hash) }
    }

    private func hash(of text: UnsafeBufferPointer<UInt8>) -> UInt64 {
        var hash = seed ^ UInt64(text.count)
        guard let start = text.baseAddress else { return hash | 1 }
        let bytes = UnsafeRawPointer(start)
        var position = 0
        while position + 8 <= text.count {
            hash = mixed(hash, bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
            position += 8
        }
        let rest = bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)
        return mixed(hash, rest & (1 &<< UInt64((text.count - position) * 8) &- 1)) | 1
    }

    private func mixed(_ hash: UInt64, _ word: UInt64) -> UInt64 {
        let (high, low) = (hash ^ word).multipliedFullWidth(by: factor)
        return high ^ low
    }
}

extension String {
    func hasBytes(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        utf8.withContiguousStorageIfAvailable { text in
            guard text.count == bytes.count, let a = text.baseAddress, let b = bytes.baseAddress else { return false }
            return memcmp(a, b, text.count) == 0
        } ?? false
    }
}

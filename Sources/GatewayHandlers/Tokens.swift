import AttributeValues
import Glibc
import WireProtocol

/// The tokens that let requests act for principals. The file has one line for each: the principal and the token's
/// SHA-256. Tokens are random, so that a fast hash is enough. A token that is deleted from the file no longer works.
package final class Tokens {
    /// Each principal costs a connection to the daemon.
    static let mostTokens = 256

    private let path: String
    /// The principal by the hash of its token.
    private var principals: [String: String] = [:]
    private var lastSeen: Seen?

    /// Differs if the file has changed.
    private struct Seen: Equatable {
        var device: UInt
        var inode: UInt
        var size: Int
        var seconds: Int
        var nanoseconds: Int
        var mode: UInt32
        var user: UInt32
        var group: UInt32
    }

    package struct Unusable: Error { package var text: String }

    /// - Throws: if the file cannot be read, or a line is not well formed.
    package init(file path: String) throws(Unusable) {
        self.path = path
        lastSeen = Tokens.look(at: path)
        principals = try Tokens.read(path)
    }

    /// - Returns: also the token's hash; nil for an unknown token.
    func principal(of token: some StringProtocol) -> (name: String, token: String)? {
        let hash = SHA256.hex(token)
        return principals[hash].map { ($0, hash) }
    }

    /// - Parameter token: its hash.
    func isKnown(token: String) -> Bool { principals[token] != nil }

    func isKnown(_ principal: String) -> Bool { principals.values.contains(principal) }

    /// True if the file is not as it was when it was read: its content, mode or owner.
    var hasChanged: Bool { Tokens.look(at: path) != lastSeen }

    /// Reads the file again if it has changed. Without a readable file no token works.
    /// - Returns: the reason why the file cannot be used.
    func refresh() -> String? {
        let now = Tokens.look(at: path)
        guard now != lastSeen else { return nil }
        lastSeen = now
        do throws(Unusable) {
            principals = try Tokens.read(path)
            return nil
        } catch {
            principals = [:]
            return error.text
        }
    }

    private static func look(at path: String) -> Seen? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return Seen(
            device: UInt(status.st_dev), inode: UInt(status.st_ino), size: Int(status.st_size),
            seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec,
            mode: status.st_mode, user: status.st_uid, group: status.st_gid)
    }

    private static func read(_ path: String) throws(Unusable) -> [String: String] {
        let text: String
        do throws(TextFile.Fault) { text = try TextFile.read(path) } catch {
            guard case .system(_, let code) = error else { throw Unusable(text: "\(path): not UTF-8") }
            let advice = code == ENOENT ? "; --add-token makes it" : ""
            throw Unusable(text: "\(path): \(String(cString: strerror(code)))\(advice)")
        }
        var found: [String: String] = [:]
        for (number, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
            guard let first = words.first, !first.hasPrefix("#") else { continue }
            let hash = words.count == 2 ? String(words[1]) : ""
            guard (try? PrincipalName.check(String(first))) != nil, hash.utf8.count == 64,
                hash.utf8.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) })
            else {
                throw Unusable(
                    text:
                        "\(path):\(number + 1): a line is a principal and the SHA-256 of a token; --add-token writes it"
                )
            }
            found[hash] = String(first)
        }
        guard found.count <= mostTokens else { throw Unusable(text: "\(path): more than \(mostTokens) tokens") }
        return found
    }

    /// Makes a token for a principal and appends its hash to the file.
    /// - Returns: the token, which is stored nowhere.
    package static func add(_ principal: String, to path: String) throws(Unusable) -> String {
        do throws(Failure) { try PrincipalName.check(principal) } catch {
            throw Unusable(text: "\(error.message): \(error.hint ?? "")")
        }
        if access(path, F_OK) == 0, try read(path).count >= mostTokens {
            throw Unusable(text: "\(path) has \(mostTokens) tokens already")
        }
        var generator = SystemRandomNumberGenerator()
        let digits = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
        // 43 characters of 62 are 256 bits.
        let token = String((0..<43).map { _ in digits[Int.random(in: 0..<62, using: &generator)] })
        let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o640)
        guard descriptor >= 0 else { throw Unusable(text: "\(path): \(String(cString: strerror(errno)))") }
        defer { close(descriptor) }
        let line = Array("\(principal) \(SHA256.hex(token))\n".utf8)
        guard write(descriptor, line, line.count) == line.count, fsync(descriptor) == 0 else {
            throw Unusable(text: "\(path): \(String(cString: strerror(errno)))")
        }
        return token
    }
}

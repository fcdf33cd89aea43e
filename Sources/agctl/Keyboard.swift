import Glibc

/// The keys of the terminal, read without waiting for a line and without showing them. When this is freed, the terminal
/// is restored.
final class Keyboard {
    enum Key: Equatable {
        case up, down, left, right, pageUp, pageDown, home, end, enter
        case character(Character)
    }

    private let descriptor: Int32
    private var before = termios()
    /// The beginning of a sequence whose end has not been read yet.
    private var rest: [UInt8] = []

    /// Opens the terminal anew, which gives it its own flags, so that those of the shell do not change. The kernel
    /// sends SIGIO when a key is pressed; the caller must catch it.
    /// - Returns: nil if the program has no terminal.
    init?() {
        descriptor = open("/dev/tty", O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        guard tcgetattr(descriptor, &before) == 0 else {
            close(descriptor)
            return nil
        }
        var raw = before
        // Ctrl-C and Ctrl-Z stay signals.
        raw.c_lflag &= ~tcflag_t(ICANON | ECHO)
        tcsetattr(descriptor, TCSADRAIN, &raw)
        _ = fcntl(descriptor, F_SETOWN, getpid())
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK | O_ASYNC)
    }

    deinit {
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        tcsetattr(descriptor, TCSADRAIN, &before)
        close(descriptor)
    }

    /// The keys that have been pressed since the last call.
    func read() -> [Key] {
        var bytes = [UInt8](repeating: 0, count: 256)
        while case let count = Glibc.read(descriptor, &bytes, bytes.count), count > 0 { rest += bytes[..<count] }
        return Keyboard.keys(&rest)
    }

    /// Takes whole keys from the front. Unknown sequences are skipped.
    static func keys(_ bytes: inout [UInt8]) -> [Key] {
        var keys: [Key] = []
        var left = bytes[...]
        while let first = left.first {
            if first == 0x1b {
                guard left.count > 1 else { break }
                let introducer = left[left.startIndex + 1]
                guard introducer == UInt8(ascii: "[") || introducer == UInt8(ascii: "O") else {
                    left = left.dropFirst()
                    continue
                }
                let end = left.dropFirst(2).firstIndex { (0x40...0x7e).contains($0) }
                guard let end else { break }
                if let key = known[String(decoding: left[(left.startIndex + 2)...end], as: UTF8.self)] {
                    keys.append(key)
                }
                left = left[(end + 1)...]
            } else {
                left = left.dropFirst()
                if first == 0x0a || first == 0x0d {
                    keys.append(.enter)
                } else if (0x20..<0x7f).contains(first) {
                    keys.append(.character(Character(Unicode.Scalar(first))))
                }
            }
        }
        bytes = Array(left.prefix(16))
        return keys
    }

    private static let known: [String: Key] = [
        "A": .up, "B": .down, "C": .right, "D": .left, "5~": .pageUp, "6~": .pageDown, "H": .home, "F": .end,
        "1~": .home, "4~": .end, "7~": .home, "8~": .end,
    ]
}

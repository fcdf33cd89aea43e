import AGClient
import Foundation
import Glibc
import TestSupport
import WireProtocol

/// A daemon that does what a test's script says, on a thread of its own. Scripts end when the client goes.
final class FakeDaemon: Sendable {
    let location: SocketLocation
    private let folder: Folder
    private let done = DispatchSemaphore(value: 0)

    init(_ script: @escaping @Sendable (Listener) -> Void) {
        let listener: Listener
        do {
            folder = try Folder()
            listener = Listener(try UnixSocket.listen(folder.file("agd.sock")))
        } catch {
            preconditionFailure("\(error)")
        }
        location = SocketLocation(path: folder.file("agd.sock"))
        let done = done
        Thread.detachNewThread {
            script(listener)
            listener.close()
            done.signal()
        }
    }

    /// Waits until the script has ended.
    func join() { done.wait() }

    final class Listener: Sendable {
        private let descriptor: Int32

        fileprivate init(_ descriptor: Int32) { self.descriptor = descriptor }

        func accept() -> Peer { Peer(Glibc.accept(descriptor, nil, nil)) }

        fileprivate func close() { _ = Glibc.close(descriptor) }
    }

    /// A client's connection. What the client does not take any more is dropped.
    final class Peer {
        private let descriptor: Int32
        private var buffer: [UInt8] = []

        fileprivate init(_ descriptor: Int32) { self.descriptor = descriptor }

        deinit { _ = Glibc.close(descriptor) }

        /// nil when the client has gone.
        func readLine() -> String? {
            while true {
                if let end = buffer.firstIndex(of: 0x0a) {
                    defer { buffer.removeFirst(end + 1) }
                    return String(decoding: buffer[..<end], as: UTF8.self)
                }
                var chunk = [UInt8](repeating: 0, count: 65536)
                let count = recv(descriptor, &chunk, chunk.count, 0)
                if count <= 0 { return nil }
                buffer += chunk[..<count]
            }
        }

        /// The next request that wants an answer, read by the real decoder; nil when the client has gone.
        func readRequest() -> (id: Int64, request: Request)? {
            while let line = readLine() {
                var found: (Int64, Request)?
                let bytes = Array(line.utf8)
                bytes.withUnsafeBufferPointer { (line: UnsafeBufferPointer<UInt8>) in
                    RequestDecoder().decode(line) { incoming in
                        guard case .call(let id, let request) = incoming, case .int(let number)? = id else { return }
                        found = (number, request)
                    }
                }
                if let found { return found }
            }
            return nil
        }

        func write(_ text: String) {
            let bytes = Array(text.utf8)
            var sent = 0
            while sent < bytes.count {
                let count = bytes.withUnsafeBytes {
                    send(descriptor, $0.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
                }
                if count <= 0 { return }
                sent += count
            }
        }

        func reply(_ id: Int64, _ result: String) { write("{\"jsonrpc\":\"2.0\",\"id\":\(id),\"result\":\(result)}\n") }

        func refuse(_ id: Int64, _ code: String, _ message: String) {
            write(
                "{\"jsonrpc\":\"2.0\",\"id\":\(id),\"error\":{\"code\":-32000,\"message\":\"\(message)\",\"data\":{\"code\":\"\(code)\"}}}\n"
            )
        }

        func update(_ revision: Int, _ path: String, _ value: String, initial: Bool = false) {
            let mark = initial ? "\"initial\":true," : ""
            write(
                "{\"jsonrpc\":\"2.0\",\"method\":\"update\",\"params\":{\"subscription\":1,\"revision\":\(revision),\(mark)\"changes\":[{\"path\":\"\(path)\",\"value\":\(value)}]}}\n"
            )
        }
    }
}

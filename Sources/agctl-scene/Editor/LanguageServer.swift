import AttributeValues
import CommandArguments
import Glibc
import SceneModel
import WireProtocol

/// The language server protocol over standard input and output, for one editor. Each message is answered before the
/// next one is read.
final class LanguageServer {
    private var answers: EditorAnswers
    private let present = PresentValues()
    private var input: [UInt8] = []
    private var isShutDown = false
    /// Bytes of a message.
    private static let maximumSize = 64 << 20

    init(read: @escaping (String) throws -> String) { answers = EditorAnswers(read: read) }

    /// - Returns: the exit status.
    func run() -> Int32 {
        while let message = next() {
            guard let call = try? JSONParser.parseOnce(message).map else { continue }
            let method = call["method"]?.string ?? ""
            if method == "exit" { return isShutDown ? 0 : 1 }
            let parameters = call["params"]?.map ?? ValueMap()
            guard let id = call["id"] else {
                take(method, parameters)
                continue
            }
            // A reply of the editor has no method.
            if method.isEmpty { continue }
            if let result = answer(method, parameters) {
                send(["jsonrpc": "2.0", "id": id, "result": result])
            } else {
                send([
                    "jsonrpc": "2.0", "id": id,
                    "error": ["code": -32601, "message": .string("there is no method '\(method)'")],
                ])
            }
        }
        return 1
    }

    // MARK: Messages

    /// The next message; nil at the end of the input, or behind a header that cannot be read.
    private func next() -> [UInt8]? {
        let end = Array("\r\n\r\n".utf8)
        while true {
            if let head = input.firstRange(of: end) {
                let fields = String(decoding: input[..<head.lowerBound], as: UTF8.self).split(separator: "\r\n")
                let length = fields.compactMap { field -> Int? in
                    let parts = field.split(separator: ":", maxSplits: 1)
                    guard parts.count == 2, parts[0].lowercased() == "content-length" else { return nil }
                    return Int(parts[1].trimmed)
                }.first
                guard let length, length >= 0, length <= LanguageServer.maximumSize else { return nil }
                while input.count - head.upperBound < length { guard fill() else { return nil } }
                defer { input.removeFirst(head.upperBound + length) }
                return Array(input[head.upperBound..<head.upperBound + length])
            }
            guard input.count < LanguageServer.maximumSize, fill() else { return nil }
        }
    }

    private func fill() -> Bool {
        var block = [UInt8](repeating: 0, count: 64 << 10)
        var count = 0
        repeat { count = read(STDIN_FILENO, &block, block.count) } while count < 0 && errno == EINTR
        if count > 0 { input += block[..<count] }
        return count > 0
    }

    private func send(_ message: Value) {
        let text = message.jsonText
        _ = StandardOutput.write("Content-Length: \(text.utf8.count)\r\n\r\n\(text)")
    }

    // MARK: Notifications

    private func take(_ method: String, _ parameters: ValueMap) {
        let file = parameters["textDocument"]?.map ?? ValueMap()
        guard let uri = file["uri"]?.string else { return }
        switch method {
        case "textDocument/didOpen":
            answers.documents[uri] = TextDocument(uri: uri, text: file["text"]?.string ?? "")
        case "textDocument/didChange":
            guard let text = parameters["contentChanges"]?.list?.last?.map?["text"]?.string else { return }
            answers.documents[uri]?.text = text
        case "textDocument/didClose":
            answers.documents[uri] = nil
            publish([], uri)
        default: return
        }
        // A file that others import has changed.
        for document in answers.documents.values.sorted(by: { $0.uri < $1.uri }) {
            publish(answers.faults(of: document).map { LanguageServer.diagnostic($0, in: document) }, document.uri)
        }
    }

    private func publish(_ diagnostics: [Value], _ uri: String) {
        send([
            "jsonrpc": "2.0", "method": "textDocument/publishDiagnostics",
            "params": ["uri": .string(uri), "diagnostics": .list(ValueList(diagnostics))],
        ])
    }

    private static func diagnostic(_ fault: SceneFault, in document: TextDocument) -> Value {
        var message = fault.message
        if let hint = fault.hint { message += "\n" + hint }
        if let note = fault.note {
            message += "\n" + note.message + (note.position == .none ? "" : " (line \(note.position.line))")
        }
        return [
            "range": document.range(fault.position), "severity": fault.isWarning ? 2 : 1, "source": "agd",
            "code": .string(fault.code.rawValue), "message": .string(message),
        ]
    }

    // MARK: Requests

    /// - Returns: nil for a method that is not known.
    private func answer(_ method: String, _ parameters: ValueMap) -> Value? {
        switch method {
        case "initialize":
            let options = parameters["initializationOptions"]?.map
            answers.with = (options?["with"]?.list ?? []).compactMap(\.string)
            return [
                "capabilities": [
                    "textDocumentSync": 1, "hoverProvider": true, "definitionProvider": true,
                    "referencesProvider": true, "completionProvider": ["triggerCharacters": ["$", "/", "."]],
                ], "serverInfo": ["name": "agctl lsp", "version": .string(Release.version)],
            ]
        case "shutdown":
            isShutDown = true
            return .null
        default: break
        }
        let uri = parameters["textDocument"]?.map?["uri"]?.string ?? ""
        guard method.hasPrefix("textDocument/"), let document = answers.documents[uri] else { return nil }
        let place = parameters["position"]?.map
        let position = document.position(
            line: Int(place?["line"]?.number ?? 0), character: Int(place?["character"]?.number ?? 0))
        switch method {
        case "textDocument/hover":
            guard let text = answers.hover(at: position, in: document, present) else { return .null }
            return ["contents": ["kind": "markdown", "value": .string(text)]]
        case "textDocument/completion":
            return .list(
                ValueList(
                    answers.completions(at: position, in: document).map {
                        ["label": .string($0.label), "kind": .int($0.kind), "detail": .string($0.detail)]
                    }))
        case "textDocument/definition":
            guard let found = answers.declaration(at: position, in: document) else { return .null }
            let target = TextDocument(uri: TextDocument.uri(of: found.path), text: found.text)
            return ["uri": .string(target.uri), "range": target.range(found.spot.node.position)]
        case "textDocument/references":
            return .list(
                ValueList(
                    answers.references(at: position, in: document).map {
                        ["uri": .string(TextDocument.uri(of: $0.path)), "range": $0.1]
                    }))
        default: return nil
        }
    }
}

import AttributeValues
import Foundation
import Testing
import WireProtocol

@Suite("Documentation/Protocol.md")
struct ProtocolDocumentTests {
    private let text: String

    init() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        text = try String(contentsOf: root.appendingPathComponent("Documentation/Protocol.md"), encoding: .utf8)
    }

    /// The text below a heading, up to the next one.
    private func section(_ heading: String) throws -> String {
        let start = try #require(text.range(of: "\n### \(heading)\n"), "no section \(heading)")
        let rest = text[start.upperBound...]
        return String(rest[..<(rest.range(of: "\n##")?.lowerBound ?? rest.endIndex)])
    }

    /// The table of some fields, as the document shows it.
    private func table(_ fields: [Field], _ title: String) -> String {
        let rows = fields.map { field in
            let kind = Self.kind(field.shape)
            let need = field.isRequired ? "required" : field.fallback.map { "default `\($0)`" } ?? "optional"
            return "| `\(field.name)` | \(kind) | \(need) | \(field.meaning) |\n"
        }
        return "| \(title) | type | | |\n|---|---|---|---|\n" + rows.joined()
    }

    private static func kind(_ shape: Shape) -> String {
        switch shape {
        case .any: "any"
        case .string: "string"
        case .bool: "bool"
        case .integer: "integer"
        case .number: "number"
        case .positive: "number > 0"
        case .count: "integer ≥ 0"
        case .choice(let words): words.map { "`\($0)`" }.joined(separator: " ")
        case .array(let element): "list of " + kind(element)
        case .object(let fields):
            "{" + fields.map { "`\($0.name)`" + ($0.isRequired ? "" : "?") }.joined(separator: ", ") + "}"
        case .map(let element): "object of " + kind(element)
        case .objectOrString: "string or object"
        }
    }

    @Test("every method has its section, with its summary, parameters, result and errors as they are") func methods()
        throws
    {
        for method in Method.table() {
            let section = try section(method.name)
            let parameters =
                method.parameters.isEmpty ? "No parameters.\n" : table(method.parameters.map(\.field), "parameter")
            let errors =
                method.errors.isEmpty
                ? "" : "Refused with " + method.errors.map { "`\($0.rawValue)`" }.joined(separator: ", ") + ".\n"
            let need = method.need.map { "Needs the right *\($0.right.rawValue)* on \($0.subject).\n" } ?? ""
            var result = ""
            if case .object(let fields) = method.result { result = table(fields, "result") }
            for part in [method.summary + "\n", parameters, result, errors, need] where !part.isEmpty {
                #expect(section.contains(part), "\(method.name) should say:\n\(part)")
            }
        }
    }

    @Test("every event has its section, with its fields as they are") func events() throws {
        for (name, summary, fields) in ProtocolSchema.events {
            let section = try section(name)
            for part in [summary + "\n", table(fields, "field")] {
                #expect(section.contains(part), "\(name) should say:\n\(part)")
            }
        }
    }

    @Test("every error code is explained") func errors() {
        for code in ErrorCode.allCases { #expect(text.contains("| `\(code.rawValue)` |"), "\(code)") }
    }

    @Test("every request that it shows is one, and every reply is JSON") func examples() throws {
        let decoder = RequestDecoder()
        var count = 0
        for line in text.split(separator: "\n") where line.hasPrefix("→ ") || line.hasPrefix("← ") {
            let message = line.dropFirst(2)
            count += 1
            guard line.hasPrefix("→") else {
                _ = try JSONParser.parseOnce(message.utf8)
                continue
            }
            Array(message.utf8).withUnsafeBufferPointer { bytes in
                decoder.decode(bytes) { incoming in
                    if case .fault(_, let fault) = incoming { Issue.record("\(message): \(fault.failure.message)") }
                }
            }
        }
        #expect(count > 20)
    }
}

import AGClient
import AttributeValues
import RuleLanguage
import SceneModel
import SceneTesting
import WireProtocol

/// Answers for an editor about scenes. Open files count as they are in the editor, others as they are on disk.
struct EditorAnswers {
    var documents: [String: TextDocument] = [:]
    /// Scenes whose declarations all files can use.
    var with: [String] = []
    private let read: (String) throws -> String

    init(read: @escaping (String) throws -> String) { self.read = read }

    private func text(of path: String) throws -> String {
        // Editors escape other characters of an address than this program.
        if let open = documents.values.first(where: { $0.path == path }) { return open.text }
        return try read(path)
    }

    // MARK: Faults

    /// A file as the checker reads it.
    private struct Checked {
        var faults: [SceneFault] = []
        /// The imports and the file itself, each with its text.
        var parts: [SceneFile] = []
        /// The attributes, by the positions of their names, in this file.
        var attributes: [SourcePosition: [AttributeDefinition]] = [:]

        /// Adds the attributes of a node and all below it.
        mutating func add(_ root: NodeDefinition) {
            var open = [root]
            while let node = open.popLast() {
                for attribute in node.attributes where attribute.position != .none {
                    attributes[attribute.position, default: []].append(attribute)
                }
                open += node.header + node.children + node.footer
                if let list = node.forEach { open += list.templates }
            }
        }
    }

    private static func isTest(_ path: String) -> Bool {
        ["yaml", "yml", "json"].contains { path.hasSuffix(".test.\($0)") }
    }

    func faults(of document: TextDocument) -> [SceneFault] {
        guard let path = document.path, Self.isTest(path) else { return check(document).faults }
        do throws(SceneFaults) { _ = try SceneTestReader.read(text: document.text, path: path) } catch {
            return error.faults
        }
        return []
    }

    private func check(_ document: TextDocument) -> Checked {
        let path = document.path ?? document.uri
        var checked = Checked()
        var context = SceneContext()
        do {
            for file in with {
                for part in try SceneImports.collect(file, read: { try text(of: $0) }) {
                    let scene = try SceneReader.read(text: part.text, file: part.path, context: context)
                    context.declarations.add(scene.declarations)
                }
            }
            checked.parts = try SceneImports.collect(path) { try $0 == path ? document.text : text(of: $0) }
        } catch {
            checked.faults = (error as? SceneFaults)?.faults ?? [SceneFault(.notFound, "\(error)")]
            if checked.faults.isEmpty || (error as? SceneFaults)?.file != path {
                checked.faults = checked.faults.map { fault in
                    SceneFault(
                        fault.code, fault.message, position: SourcePosition(line: 1, column: 1), hint: fault.hint)
                }
            }
            checked.parts = [SceneFile(path: path, text: document.text)]
        }
        for part in checked.parts {
            do throws(SceneFaults) {
                let scene = try SceneReader.read(text: part.text, file: part.path, context: context)
                context.declarations.add(scene.declarations)
                guard part.path == path else { continue }
                checked.faults += scene.warnings?.faults ?? []
                for component in scene.declarations.components.values { checked.add(component) }
                for node in scene.nodes { checked.add(node) }
            } catch {
                if part.path == path {
                    checked.faults += error.faults
                } else if let fault = error.faults.first {
                    checked.faults.append(
                        SceneFault(
                            fault.code, "\(part.path) has faults: \(fault.message)",
                            position: importPosition(in: document.text)))
                }
            }
        }
        return checked
    }

    private func importPosition(in text: String) -> SourcePosition {
        guard let document = DocumentReader.read(text, FaultCollector()), let node = document["import"] else {
            return SourcePosition(line: 1, column: 1)
        }
        return node.position
    }

    // MARK: Places

    /// The outline of a file; nil while it cannot be read.
    private func outline(_ text: String) -> SceneOutline? {
        DocumentReader.read(text, FaultCollector()).map { SceneOutline($0) }
    }

    /// A name that a document declares.
    struct Declaration {
        var path: String
        var spot: Spot
        var text: String
    }

    /// The identifier at a position in a line, with the sign before it.
    private func word(at position: SourcePosition, in document: TextDocument) -> (name: String, sign: Character?)? {
        guard document.lines.indices.contains(position.line - 1) else { return nil }
        let line = Array(document.lines[position.line - 1])
        func isPart(_ position: Int) -> Bool {
            line.indices.contains(position)
                && (line[position].isLetter || line[position].isNumber || line[position] == "_")
        }
        var start = position.column - 1
        if !isPart(start) { start -= 1 }
        guard isPart(start) else { return nil }
        var end = start
        while isPart(start - 1) { start -= 1 }
        while isPart(end + 1) { end += 1 }
        return (String(line[start...end]), start > 0 ? line[start - 1] : nil)
    }

    /// The declaration of the name at a position.
    func declaration(at position: SourcePosition, in document: TextDocument) -> Declaration? {
        guard let outline = outline(document.text), let spot = outline.spot(at: position) else { return nil }
        let own = document.path ?? document.uri
        if case .file = spot.shape, !spot.isKey {
            let path = SceneImports.resolve(spot.node.text, from: own)
            guard let text = try? text(of: path) else { return nil }
            return Declaration(
                path: path, spot: Spot(node: DocumentNode.beginning, isKey: true, shape: .other, nodes: []), text: text)
        }
        guard let word = word(at: position, in: document) else { return nil }
        if spot.isKey, spot.form == nil, !isTarget(spot) {
            return Declaration(path: own, spot: spot, text: document.text)
        }
        if spot.isKey, spot.form != nil { return nil }
        // A member of something is declared elsewhere.
        if word.sign == "." { return nil }
        if case .component = spot.shape { return global(word.name, .components, document) }
        return attribute(word.name, around: spot, in: outline).map {
            Declaration(path: own, spot: $0, text: document.text)
        } ?? global(word.name, .functions, document) ?? global(word.name, .types, document)
    }

    private func isTarget(_ spot: Spot) -> Bool {
        if case .targets? = spot.named { return true }
        return false
    }

    /// The attribute of the nearest node around a place that has one of this name.
    private func attribute(_ name: String, around spot: Spot, in outline: SceneOutline) -> Spot? {
        for node in spot.nodes.reversed() {
            let found = outline.spots.first {
                $0.isKey && $0.kind != nil && $0.node.text == name && $0.nodes.last?.position == node.position
            }
            if let found { return found }
        }
        return nil
    }

    private enum Global { case components, functions, types }

    /// A declaration of the document or of one that it imports.
    private func global(_ name: String, _ what: Global, _ document: TextDocument) -> Declaration? {
        globals(what, document).first { $0.spot.node.text.prefix { $0 != "(" } == name }
    }

    private func globals(_ what: Global, _ document: TextDocument) -> [Declaration] {
        let path = document.path ?? document.uri
        var files = (try? SceneImports.collect(path) { try $0 == path ? document.text : text(of: $0) }) ?? []
        if files.isEmpty { files = [SceneFile(path: path, text: document.text)] }
        for file in with { files += (try? SceneImports.collect(file) { try text(of: $0) }) ?? [] }
        return files.reversed().flatMap { file in
            (outline(file.text)?.spots ?? []).filter {
                switch ($0.named, what) {
                case (.components?, .components), (.functions?, .functions), (.types?, .types): $0.isKey
                default: false
                }
            }.map { Declaration(path: file.path, spot: $0, text: file.text) }
        }
    }

    /// All places of a name: that of its declaration, and those where it is used, in the open files and the imports.
    func references(at position: SourcePosition, in document: TextDocument) -> [(path: String, Value)] {
        guard let wanted = declaration(at: position, in: document) else { return [] }
        let name = String(wanted.spot.node.text.prefix { $0 != "(" })
        let own = document.path ?? document.uri
        var files: [String: TextDocument] = [:]
        for open in documents.values { files[open.path ?? open.uri] = open }
        files[own] = document
        for file in check(document).parts where files[file.path] == nil {
            files[file.path] = TextDocument(uri: TextDocument.uri(of: file.path), text: file.text)
        }
        var found: [(path: String, Value)] = []
        for (path, file) in files.sorted(by: { $0.key < $1.key }) {
            for position in places(of: name, in: file) {
                guard let other = declaration(at: position, in: file), other.path == wanted.path,
                    other.spot.node.position == wanted.spot.node.position
                else { continue }
                found.append((path, file.range(position, length: name.unicodeScalars.count)))
            }
        }
        return found
    }

    /// Where a name stands as a word.
    private func places(of name: String, in document: TextDocument) -> [SourcePosition] {
        var found: [SourcePosition] = []
        for (number, line) in document.lines.enumerated() {
            for range in line.ranges(of: name) {
                let before = range.lowerBound > line.startIndex ? line[line.index(before: range.lowerBound)] : " "
                let after = range.upperBound < line.endIndex ? line[range.upperBound] : " "
                func isPart(_ character: Character) -> Bool {
                    character.isLetter || character.isNumber || character == "_"
                }
                if isPart(before) || isPart(after) { continue }
                let column = line.unicodeScalars[..<range.lowerBound].count + 1
                found.append(SourcePosition(line: number + 1, column: column))
            }
        }
        return found
    }

    // MARK: Hover

    /// Markdown about the key or name at a position.
    func hover(at position: SourcePosition, in document: TextDocument, _ daemon: PresentValues) -> String? {
        guard let outline = outline(document.text), let spot = outline.spot(at: position) else { return nil }
        if spot.isKey, let form = spot.form {
            guard let row = SceneGuide.rows(of: form).first(where: { $0.key == spot.node.text })?.row else {
                return nil
            }
            return "**\(spot.node.text)** - \(row.meaning)"
        }
        guard let found = declaration(at: position, in: document) else { return nil }
        if found.spot.kind != nil {
            // Attributes of imported components have positions in other files.
            let known = check(document).attributes[found.spot.node.position]?.first { $0.name == found.spot.node.text }
            let type = known.map { ": \($0.type)" } ?? ""
            var text = "`\(found.spot.kind ?? "") \(found.spot.node.text)\(type)`"
            if let value = found.spot.value, value.string != nil { text += "\n\n`\(value.text)`" }
            if let comment = comment(above: found) { text += "\n\n" + comment }
            if let path = path(of: found.spot), let present = daemon.describe(path) { text += "\n\n" + present }
            return text
        }
        let what = comment(above: found) ?? ""
        switch found.spot.named {
        case .components?:
            let parameters = parameters(of: found.spot)
            let list = parameters.map { "- `\($0)`" }.joined(separator: "\n")
            return "component **\(found.spot.node.text)**\n\n\(what)\n\n\(list)"
        case .functions?: return "function `\(found.spot.node.text)`\n\n`\(found.spot.value?.text ?? "")`\n\n\(what)"
        case .types?: return "type **\(found.spot.node.text)**\n\n\(what)"
        default: return nil
        }
    }

    /// The lines of comment directly above a declaration.
    private func comment(above declaration: Declaration) -> String? {
        let lines = declaration.text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
        var found: [String] = []
        var number = declaration.spot.node.position.line - 2
        while lines.indices.contains(number) {
            let line = Substring(lines[number]).trimmed
            guard line.hasPrefix("#") else { break }
            found.insert(Substring(line.drop { $0 == "#" }).trimmed, at: 0)
            number -= 1
        }
        return found.isEmpty ? nil : found.joined(separator: "\n")
    }

    private func parameters(of component: Spot, _ kinds: [String] = ["binding", "let"]) -> [String] {
        kinds.flatMap { key in
            let written = component.value?[key]
            return written?.map?.map(\.name) ?? written?.list?.map(\.text) ?? []
        }
    }

    /// The path of an attribute whose nodes all have ids, and that is in no list and no component.
    private func path(of spot: Spot) -> String? {
        guard spot.component == nil else { return nil }
        var ids: [Name] = []
        for node in spot.nodes {
            guard let id = node["id"]?.text, node["in"] == nil else { return nil }
            ids.append(Name(id))
        }
        return AttributePath(nodes: ids, attribute: spot.node.text).description
    }

    // MARK: Completion

    struct Completion {
        var label: String
        var detail = ""
        /// The protocol's number: 5 a field, 7 a class, 3 a function, 6 a variable, 14 a keyword, 12 a value.
        var kind: Int64
    }

    private static let placeholder = "zqz"

    /// What can stand at a position.
    func completions(at position: SourcePosition, in document: TextDocument) -> [Completion] {
        guard document.lines.indices.contains(position.line - 1) else { return [] }
        let line = Array(document.lines[position.line - 1].unicodeScalars)
        func isPart(_ scalar: Unicode.Scalar) -> Bool {
            scalar.properties.isAlphabetic || scalar == "_" || ("0"..."9").contains(scalar)
        }
        var start = min(position.column - 1, line.count)
        while start > 0, isPart(line[start - 1]) { start -= 1 }
        let before = String(String.UnicodeScalarView(line[..<start]))
        var end = min(position.column - 1, line.count)
        while end < line.count, isPart(line[end]) { end += 1 }
        let after = String(String.UnicodeScalarView(line[end...]))
        let sign = before.last
        // A half-written line may be no YAML. With a placeholder as a key, or else as a value, it mostly is.
        let rest = Substring(after).trimmed
        let closing = rest.isEmpty ? EditorAnswers.closing(before) : ""
        let key = rest.hasPrefix(":") ? Self.placeholder : Self.placeholder + ": "
        for filler in [key, Self.placeholder] {
            var lines = document.lines.map(String.init)
            lines[position.line - 1] = before + filler + closing + after
            // As it would be: its imports can be read then, too.
            let patched = TextDocument(uri: document.uri, text: lines.joined(separator: "\n"))
            guard let outline = outline(patched.text),
                let spot = outline.spots.first(where: { $0.node.text.contains(Self.placeholder) })
            else { continue }
            return spot.isKey ? keys(spot, outline, patched) : values(spot, sign, outline, patched)
        }
        return []
    }

    /// The brackets that are open at the end of a text.
    private static func closing(_ text: String) -> String {
        var open: [Character] = []
        for character in text {
            switch character {
            case "{": open.append("}")
            case "[": open.append("]")
            case "}", "]": _ = open.popLast()
            default: break
            }
        }
        return open.reversed().map { " \($0)" }.joined()
    }

    private func keys(_ spot: Spot, _ outline: SceneOutline, _ document: TextDocument) -> [Completion] {
        let present = Set(spot.map?.map?.map(\.name) ?? [])
        if let form = spot.form {
            let forms = SceneForm.allCases.filter {
                $0 == form || form == .node && $0.isChoice && spot.map?.count ?? 0 <= 1
            }
            return forms.flatMap { form in
                SceneGuide.rows(of: form).filter { !present.contains($0.key) }.map {
                    Completion(label: $0.key, detail: $0.row.meaning.replacing("`", with: ""), kind: 5)
                }
            }
        }
        switch spot.named {
        case .inputs(let kind)?:
            guard let name = spot.nodes.last?["component"]?.text,
                let component = global(name, .components, document)
            else { return [] }
            return parameters(of: component.spot, [kind]).filter { !present.contains($0) }.map {
                Completion(label: $0, kind: 5)
            }
        case .environmentKeys?: return environmentKeys(document)
        case .targets?: return names(around: spot, outline)
        default: return []
        }
    }

    private func values(_ spot: Spot, _ sign: Character?, _ outline: SceneOutline, _ document: TextDocument)
        -> [Completion]
    {
        switch spot.shape {
        case .component:
            return globals(.components, document).map { Completion(label: $0.spot.node.text, kind: 7) }
        case .kind: return NodeKind.written.map { Completion(label: $0.rawValue, kind: 12) }
        case .type:
            let types = globals(.types, document).map { Completion(label: $0.spot.node.text, kind: 7) }
            return types + EditorAnswers.types.map { Completion(label: $0, kind: 14) }
        case .expression, .forms, .named:
            if spot.node.text.contains("env.\(Self.placeholder)") { return environmentKeys(document) }
            if sign == "/" { return paths(outline, below: spot.node.text) }
            if sign == "." { return [] }
            let names = names(around: spot, outline)
            if sign == "$" { return names }
            return names
                + globals(.functions, document).map {
                    Completion(
                        label: String($0.spot.node.text.prefix { $0 != "(" }), detail: $0.spot.value?.text ?? "",
                        kind: 3)
                } + RuleWords.functions.map { Completion(label: $0, kind: 3) }
        default: return []
        }
    }

    private static let types = [
        "bool", "int", "uint", "double", "string", "bytes", "timestamp", "duration", "color", "angle", "vector", "list",
        "map", "dyn",
    ]

    private func environmentKeys(_ document: TextDocument) -> [Completion] {
        let path = document.path ?? document.uri
        let files = (try? SceneImports.collect(path) { try $0 == path ? document.text : text(of: $0) }) ?? []
        let declared = files.flatMap { file in
            (DocumentReader.read(file.text, FaultCollector())?["keys"]?["environment"]?.map ?? []).map(\.name)
        }
        return (declared + SystemEnvironment.keys.map(\.name)).map { Completion(label: $0, kind: 6) }
    }

    /// The attributes of the nodes around a place, the nearest first.
    private func names(around spot: Spot, _ outline: SceneOutline) -> [Completion] {
        var found: [Completion] = []
        for node in spot.nodes.reversed() {
            for other in outline.spots where other.kind != nil && other.nodes.last?.position == node.position {
                if other.node.text.contains(Self.placeholder) || found.contains(where: { $0.label == other.node.text })
                {
                    continue
                }
                found.append(Completion(label: other.node.text, detail: other.kind ?? "", kind: 6))
            }
        }
        return found
    }

    /// The ids of nodes below the path that a text ends with.
    private func paths(_ outline: SceneOutline, below text: String) -> [Completion] {
        let typed = text.prefix(upTo: text.firstRange(of: Self.placeholder)?.lowerBound ?? text.endIndex)
        let path = typed.reversed().prefix { !" =$('\"".contains($0) }.reversed()
        let parent = String(String(path).dropLast())
        var found: [String] = []
        for spot in outline.spots where spot.isKey && spot.form == .node && spot.node.text == "id" {
            guard let id = spot.value?.text, spot.component == nil else { continue }
            let around = spot.nodes.dropLast().map { "/" + ($0["id"]?.text ?? "?") }.joined()
            if around == parent, !found.contains(id) { found.append(id) }
        }
        return found.map { Completion(label: $0, kind: 12) }
    }
}

extension Spot {
    /// The kind of attribute of which this is the name; nil for other keys.
    var kind: String? {
        guard isKey else { return nil }
        return switch named {
        case .attributes(let kind)?, .inputs(let kind)?: kind
        default: nil
        }
    }
}

extension SceneForm {
    /// True for the elements of a list of nodes that are no nodes.
    var isChoice: Bool { self == .ifChoice || self == .switchChoice || self == .place || self == .slot }
}

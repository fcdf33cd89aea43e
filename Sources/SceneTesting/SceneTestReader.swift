import AttributeValues
import SceneModel
import WireProtocol

/// Reads a test file, and finds all faults of its form.
package struct SceneTestReader {
    private let path: String
    private let check: CheckCursor

    /// - Throws: all faults, with line and column.
    package static func read(text: String, path: String) throws(SceneFaults) -> SceneTestFile {
        let faults = FaultCollector(file: path, lines: SourceLines(text))
        let document = DocumentReader.read(text, faults)
        try faults.throwIfAny()
        let reader = SceneTestReader(path: path, check: CheckCursor(faults))
        let file = document.map(reader.readFile)
        try faults.throwIfAny()
        guard let file else { preconditionFailure("a document that cannot be read has a fault") }
        return file
    }

    private func readFile(_ node: DocumentNode) -> SceneTestFile {
        var file = SceneTestFile(path: path)
        let entries = check.readEntries(node, "a test file", hint: "it has the keys given and tests")
        check.checkKeys(entries, of: "a test file", allowed: ["given", "tests"])
        if let given = node["given"] { check.at("given") { file.given = readGiven(given) } }
        if file.given.scenes.isEmpty {
            if let scene = SceneTestReader.sceneBeside(path) {
                file.given.scenes = [Located(scene, node.position)]
            } else if file.given.applied.isEmpty {
                check.fault(
                    "the file names no scene", at: node,
                    hint:
                        "write given: { scene: FILE }, or name the file as its scene: station.test.yaml tests station.yaml"
                )
            }
        }
        guard let tests = node["tests"] else {
            check.fault("the file has no tests", at: node, hint: "write tests: { a claim: [steps] }")
            return file
        }
        check.at("tests") {
            check.visitEntries(tests, "tests", hint: "write each test as its name with a list of steps") { entry in
                let steps = check.readElements(entry.value, "a test", hint: "write a '-' before each step")
                if steps.isEmpty, entry.value.list != nil || entry.value.isNull {
                    check.fault("the test has no steps", at: entry.key)
                }
                var read: [Step] = []
                check.visit(steps) { read.append(readStep($0)) }
                file.tests.append(SceneTest(name: entry.name, steps: read))
            }
        }
        return file
    }

    /// The scene of a file that names none: `a.yaml` of `a.test.yaml`.
    static func sceneBeside(_ path: String) -> String? {
        for ending in ["yaml", "yml", "json"] where path.hasSuffix(".test.\(ending)") {
            return path.dropLast(".test.\(ending)".count) + ".\(ending)"
        }
        return nil
    }

    // MARK: Given

    private static let givenKeys = ["scene", "apply", "time", "environment", "watch", "set"]

    private func readGiven(_ node: DocumentNode) -> SceneTestFile.Given {
        var given = SceneTestFile.Given()
        let entries = check.readEntries(node, "given")
        check.checkKeys(entries, of: "given", allowed: SceneTestReader.givenKeys)
        for entry in entries {
            check.at(entry.name) {
                switch entry.name {
                case "scene": given.scenes = readFiles(entry.value)
                case "apply": given.applied = (entry.value.list ?? [entry.value]).compactMap(readDocument)
                case "time":
                    if let text = entry.value.string, let time = Timestamp(text) {
                        given.time = time
                    } else {
                        check.fault(
                            "time is a timestamp, not \(entry.value.summary)", at: entry.value,
                            hint: "write it as 2026-01-01T08:00:00Z")
                    }
                case "environment":
                    let allowed = ["timeZone", "locale", "calendar"]
                    let entries = check.readEntries(entry.value, "environment")
                    check.checkKeys(entries, of: "environment", allowed: allowed)
                    for entry in entries where allowed.contains(entry.name) {
                        if entry.value.string == nil {
                            check.fault("\(entry.name) is a text, not \(entry.value.summary)", at: entry.value)
                        }
                        given.environment[entry.name] = entry.value.value
                    }
                case "watch":
                    given.watched = readTexts(entry.value, "a pattern").compactMap { readPattern($0)?.description }
                case "set": given.writes = readOperation(.set, entry.value)
                default: break
                }
            }
        }
        return given
    }

    private func readFiles(_ node: DocumentNode) -> [Located<String>] {
        readTexts(node, "a file").map { Located(SceneImports.resolve($0.text, from: path), $0.position) }
    }

    private func readDocument(_ node: DocumentNode) -> Document? {
        if node.string != nil {
            return Document(source: .file(SceneImports.resolve(node.text, from: path)), position: node.position)
        }
        guard node.map != nil else {
            return check.refuse("a document is a file or a map, not \(node.summary)", at: node)
        }
        guard let inner = node["document"] else { return Document(source: .value(node.value), position: node.position) }
        guard var document = readDocument(inner) else { return nil }
        check.checkKeys(node.map ?? [], of: "apply", allowed: ["document", "at", "mode"])
        if let at = node["at"], let path = readNodePath(at) { document.at = path }
        if let mode = node["mode"] {
            if let known = mode.string.flatMap(Request.ApplyMode.init) {
                document.mode = known
            } else {
                let modes = Request.ApplyMode.allCases.map(\.rawValue).joined(separator: ", ")
                check.fault("there is no mode \(mode.summary)", at: mode, hint: "the modes are \(modes)")
            }
        }
        return document
    }

    // MARK: Steps

    private static let operations = Mutation.Operation.allCases.map(\.rawValue)
    private static let acts = operations + ["transact", "do", "advance", "restart", "apply"]
    private static let expectations = ["expect", "shown", "changed", "unchanged", "children", "ran", "idle", "refused"]

    private func readStep(_ node: DocumentNode) -> Step {
        var step = Step(position: node.position)
        if node.string == "restart" {
            step.act = .restart(after: TimeSpan(nanoseconds: 0), scenes: nil)
            return step
        }
        let entries = check.readEntries(
            node, "a step", hint: "a step is a map, as in - set: { /player.isPlaying: true }")
        check.checkKeys(
            entries, of: "a step", allowed: SceneTestReader.acts + ["animation"] + SceneTestReader.expectations)
        var operations: [Operation] = []
        var acts: [DocumentNode] = []
        for entry in entries {
            check.at(entry.name) {
                if let kind = Mutation.Operation(rawValue: entry.name) {
                    // All operations of a step are one transaction.
                    if !acts.contains(where: { Mutation.Operation(rawValue: $0.text) != nil }) {
                        acts.append(entry.key)
                    }
                    operations += readOperation(kind, entry.value)
                    step.act = .write(operations)
                } else if SceneTestReader.acts.contains(entry.name) {
                    acts.append(entry.key)
                    step.act = readAct(entry)
                } else {
                    readAdded(entry, to: &step)
                }
            }
        }
        if acts.count > 1 {
            check.fault(
                "a step does one thing, not '\(acts[0].text)' and '\(acts[1].text)'", at: acts[1],
                hint: "write two steps; transact takes several changes")
        }
        addExhaustive(entries, to: &step)
        if step.act == nil, let refused = node["refused"] {
            check.fault("nothing is refused in a step that does nothing", at: refused)
        }
        return step
    }

    private func readAct(_ entry: DocumentEntry) -> Step.Act? {
        let node = entry.value
        switch entry.name {
        case "transact":
            var operations: [Operation] = []
            for element in check.readElements(node, "transact", hint: "write a list, as [{ set: { /a.b: 1 } }]") {
                let entries = check.readEntries(element, "a change")
                check.checkKeys(entries, of: "a change", allowed: SceneTestReader.operations + ["animation"])
                let animation = element["animation"]?.value
                for entry in entries {
                    guard let kind = Mutation.Operation(rawValue: entry.name) else { continue }
                    operations += check.at(entry.name) { readOperation(kind, entry.value) }.map { operation in
                        var operation = operation
                        operation.animation = animation
                        return operation
                    }
                }
            }
            return .write(operations)
        case "do": return .call(readCalls(node))
        case "advance": return readSpan(node).map { .advance($0) }
        case "restart":
            guard node.map != nil else {
                return (node.isNull ? TimeSpan(nanoseconds: 0) : readSpan(node)).map {
                    .restart(after: $0, scenes: nil)
                }
            }
            check.checkKeys(node.map ?? [], of: "restart", allowed: ["after", "scene"])
            let after = node["after"].map(readSpan) ?? TimeSpan(nanoseconds: 0)
            let scenes = node["scene"].map(readFiles)
            return after.map { .restart(after: $0, scenes: scenes) }
        case "apply": return readDocument(node).map { .apply($0) }
        default: return nil
        }
    }

    /// The keys of a step beside its act.
    private func readAdded(_ entry: DocumentEntry, to step: inout Step) {
        let node = entry.value
        switch entry.name {
        case "animation": step.animation = node.value
        case "expect", "shown":
            for (path, node) in readPaths(node, entry.name) {
                guard let wanted = readWanted(node) else { continue }
                step.expectations.append(
                    Located(.value(path: path, wanted, isShown: entry.name == "shown"), node.position))
            }
        case "children":
            for (path, node) in readPaths(node, "children", isNode: true) {
                let ids = readTexts(node, "an id").map(\.text)
                step.expectations.append(Located(.children(path: path, ids), node.position))
            }
        case "changed", "unchanged", "ran", "idle":
            if isOthers(entry) { break }
            for text in readTexts(node, "a pattern") {
                guard let pattern = readPattern(text) else { continue }
                guard pattern.steps.isEmpty else {
                    check.fault(
                        "'\(text.text)' names a part of a value", at: text,
                        hint: "name the attribute; expect compares parts")
                    continue
                }
                let expectation: Expectation =
                    switch entry.name {
                    case "changed": .changed(pattern)
                    case "unchanged": .unchanged(pattern)
                    case "ran": .ran(pattern)
                    default: .idle(pattern)
                    }
                step.expectations.append(Located(expectation, text.position))
            }
        case "refused":
            if let code = node.string.flatMap(ErrorCode.init) {
                step.refusal = Located(code, node.position)
            } else {
                let codes = ErrorCode.allCases.map(\.rawValue)
                check.fault(
                    "there is no error \(node.summary)", at: node,
                    hint: NearestName.hint(node.text, among: codes) ?? "the errors are \(codes.joined(separator: ", "))"
                )
            }
        default: break
        }
    }

    /// `unchanged: others`: nothing but what `changed` lists. `idle: others`: nothing but what `ran` lists.
    private func isOthers(_ entry: DocumentEntry) -> Bool {
        (entry.name == "unchanged" || entry.name == "idle") && entry.value.string == "others"
    }

    private func addExhaustive(_ entries: [DocumentEntry], to step: inout Step) {
        for entry in entries where isOthers(entry) {
            let patterns = step.expectations.compactMap {
                switch $0.part {
                case .changed(let pattern) where entry.name == "unchanged": pattern
                case .ran(let pattern) where entry.name == "idle": pattern
                default: nil
                }
            }
            let expectation: Expectation =
                entry.name == "idle" ? .ranNothingBut(patterns) : .changedNothingBut(patterns)
            step.expectations.append(Located(expectation, entry.value.position))
        }
    }

    // MARK: Parts

    private func readOperation(_ kind: Mutation.Operation, _ node: DocumentNode) -> [Operation] {
        switch kind {
        case .toggle, .remove:
            return readTexts(node, "a path").compactMap { text in
                readPath(text).map { Operation(kind: kind, path: $0, operand: nil) }
            }
        case .insert:
            return readPaths(node, kind.rawValue).compactMap { path, value in
                guard var place = try? AttributePath(path), case .index(let index)? = place.steps.popLast() else {
                    return check.refuse(
                        "insert takes the element before which the value is put", at: value,
                        hint: "write its position behind the list, as \(path)[0]")
                }
                return Operation(
                    kind: kind, path: place.description, index: Int(index),
                    operand: Located(readWritten(value), value.position))
            }
        case .set, .add, .append, .merge, .test:
            return readPaths(node, kind.rawValue).map { path, value in
                Operation(kind: kind, path: path, operand: Located(readWritten(value), value.position))
            }
        }
    }

    private func readCalls(_ node: DocumentNode) -> [Call] {
        guard node.map != nil else {
            return readTexts(node, "the path of an action").compactMap { text in
                readPath(text).map { Call(path: $0, arguments: [], position: text.position) }
            }
        }
        return readPaths(node, "do").map { path, node in
            let arguments = check.readEntries(node, "the parameters of an action")
            return Call(
                path: path,
                arguments: arguments.map { ($0.name, Located(readWritten($0.value), $0.value.position)) },
                position: node.position)
        }
    }

    private func readWritten(_ node: DocumentNode) -> Written {
        guard let text = node.string else { return .value(node.value) }
        if text.hasPrefix("==") { return .value(.string(String(text.dropFirst()))) }
        return text.hasPrefix("=") ? .rule(String(text.dropFirst())) : .value(node.value)
    }

    private func readWanted(_ node: DocumentNode) -> Expectation.Wanted? {
        if node.map?.count == 1, let code = node["$error"] {
            if let known = code.string.flatMap(ErrorCode.init) { return .failure(known) }
            let codes = ErrorCode.allCases.map(\.rawValue)
            return check.refuse(
                "there is no error \(code.summary)", at: code,
                hint: NearestName.hint(code.text, among: codes) ?? "the errors are \(codes.joined(separator: ", "))")
        }
        return switch readWritten(node) {
        case .value(let value): .value(value)
        case .rule(let rule): .rule(rule)
        }
    }

    private func readSpan(_ node: DocumentNode) -> TimeSpan? {
        if let text = node.string, let span = TimeSpan(text), span.nanoseconds >= 0 { return span }
        return check.refuse("a time is written as 90s, 5m or 1d, not \(node.summary)", at: node)
    }

    private func readTexts(_ node: DocumentNode, _ what: String) -> [DocumentNode] {
        (node.list ?? [node]).filter {
            if case .scalar(let value) = $0.content, value != .null { return true }
            check.fault("\(what) is a text, not \($0.summary)", at: $0)
            return false
        }
    }

    /// A map with paths as keys.
    private func readPaths(_ node: DocumentNode, _ what: String, isNode: Bool = false) -> [(String, DocumentNode)] {
        let hint = isNode ? "write { /node: … }" : "write { /node.attribute: … }"
        return check.readEntries(node, what, hint: hint).compactMap { entry in
            (isNode ? readNodePath(entry.key) : readPath(entry.key)).map { ($0, entry.value) }
        }
    }

    private func readPath(_ node: DocumentNode) -> String? {
        do throws(Failure) {
            let path = try AttributePath(node.text)
            guard path.attribute == nil else { return node.text }
            return check.refuse(
                "'\(node.text)' names no attribute", at: node, hint: "write it behind the node: \(node.text).name")
        } catch { return check.refuse(error.code, error.message, at: node, hint: error.hint) }
    }

    private func readNodePath(_ node: DocumentNode) -> String? {
        do throws(Failure) {
            let path = try AttributePath(node.text)
            guard path.attribute != nil else { return node.text }
            return check.refuse("'\(node.text)' is an attribute, not a node", at: node, hint: "write \(path.node)")
        } catch {
            return check.refuse(error.code, error.message, at: node, hint: error.hint)
        }
    }

    private func readPattern(_ node: DocumentNode) -> PathPattern? {
        do throws(Failure) { return try PathPattern(node.text) } catch {
            return check.refuse(error.code, error.message, at: node, hint: error.hint)
        }
    }
}

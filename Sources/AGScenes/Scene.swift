public import AGClient
public import AttributeValues
public import WireProtocol

/// A scene document, written in Swift:
///
///     let scene = try Scene {
///         Component("PlayButton") {
///             Binding("isPlaying")
///             Computed("symbol", #"isPlaying ? "pause.circle" : "play.circle""#)
///         }
///         Container("player") {
///             State("isPlaying", false)
///             Instance("playButton", of: "PlayButton") { Binding("isPlaying", to: \.isPlaying) }
///         }
///         .environment(\.locale, "en_GB")
///     }
///     try await client.apply(scene)
///
/// It is the same document as the YAML one. Rules and names are checked by the daemon, before anything takes effect.
public struct Scene {
    /// The document that `apply` sends.
    public let document: Value

    /// The document as JSON text, for `agctl apply -f` and `agd --scene`.
    public var text: String { document.jsonText }

    /// - Throws: everything that no document can express: invalid names, duplicate names, values that JSON cannot
    ///   represent.
    public init(@SceneBuilder _ content: () -> [ScenePart]) throws(SceneMistakes) {
        var document: ValueMap = ValueMap([(.string("agd"), 1)])
        var mistakes: [SceneMistake] = []
        // The nodes of a document are added as slots of a node that is not written.
        var root = NodeDraft(id: nil)
        var nodes: [NodeDraft] = []
        for part in content() {
            switch part.content {
            case .node(let node): nodes.append(node)
            case .declaration(let declaration):
                mistakes += declaration.mistakes
                if !Scene.enter(declaration, into: &document) {
                    let place = (declaration.section + [declaration.name]).joined(separator: ".")
                    mistakes.append(SceneMistake(place: place, message: "declared twice"))
                }
            }
        }
        root.add(nodes, to: "nodes")
        mistakes += root.mistakes
        guard mistakes.isEmpty else { throw SceneMistakes(mistakes: mistakes) }
        if !nodes.isEmpty { document["nodes"] = .list(nodes.map(\.document)) }
        self.document = .map(document)
    }

    /// Returns true if the name was free.
    private static func enter(_ declaration: DeclarationDraft, into document: inout ValueMap) -> Bool {
        func enter(_ section: ArraySlice<String>, _ map: inout ValueMap) -> Bool {
            guard let name = section.first else {
                guard map[declaration.name] == nil else { return false }
                map[declaration.name] = declaration.document
                return true
            }
            var inner = map[name]?.map ?? ValueMap()
            let isFree = enter(section.dropFirst(), &inner)
            map[name] = .map(inner)
            return isFree
        }
        return enter(declaration.section[...], &document)
    }
}

/// A node or a declaration of a scene. The builder makes it.
public struct ScenePart {
    enum Content {
        case node(NodeDraft)
        case declaration(DeclarationDraft)
    }

    let content: Content
}

@resultBuilder
public enum SceneBuilder: PartsBuilder {
    public typealias Part = ScenePart

    public static func buildExpression(_ node: some Node) -> [ScenePart] { [ScenePart(content: .node(node.draft))] }
    public static func buildExpression(_ declaration: some Declaration) -> [ScenePart] {
        [ScenePart(content: .declaration(declaration.declaration))]
    }
    @available(*, unavailable, message: "attributes belong to nodes; put this into a View or a Container")
    public static func buildExpression(_ attribute: some Attribute) -> [ScenePart] { [] }
}

extension Client {
    /// Adds a scene to the tree, as `apply(document:)`.
    @discardableResult
    public nonisolated(nonsending) func apply(
        _ scene: Scene, at path: String = "/", mode: Request.ApplyMode = .create, dryRun: Bool = false,
        options: TransactionOptions = TransactionOptions()
    ) async throws(ClientError) -> AppliedScene {
        try await apply(.init(document: scene.document, at: path, mode: mode, dryRun: dryRun, options: options))
    }
}

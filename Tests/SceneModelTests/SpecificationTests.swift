import AttributeValues
import RuleLanguage
import SceneModel
import Testing

/// The document of the specification's section 9.
let specificationScene = """
    agd: 1
    keys:
      environment: { locale: { default: en_US }, lineLimit: { default: null, type: "int?" } }
      container:   { isFeatured: { default: false } }
      preference:  { widest: { default: 0, reduce: "math.greatest(value, next)" } }
    types:
      Library:
        state:    { books: [] }
        computed: { availableBooksCount: "books.filter(b, b.isAvailable).size()" }
    components:
      PlayButton:
        binding:  [isPlaying]
        computed: { symbol: 'isPlaying ? "pause.circle" : "play.circle"', scale: "isPlaying ? 1.0 : 1.5" }
    nodes:
      - id: player
        state:
          isPlaying: false
          episode: { title: Some Episode, showTitle: Great Show, isFavorite: false }
        children:
          - { id: playButton, component: PlayButton, binding: { isPlaying: $isPlaying } }
          - { id: favorite, kind: view, binding: { isOn: $episode.isFavorite } }
    """

@Suite("The example of the specification")
struct SpecificationTests {
    @Test("declares its keys with default, type and reduce")
    func keys() throws {
        let declarations = try scene(specificationScene).declarations
        #expect(declarations.environment["lineLimit"]?.type == .nullable(.int))
        #expect(declarations.environment["lineLimit"]?.defaultValue == .null)
        #expect(declarations.environment["locale"]?.type == .string)
        #expect(declarations.container["isFeatured"]?.defaultValue == false)
        let widest = try #require(declarations.preference["widest"])
        let reduce = try #require(widest.reduce)
        let merged = Evaluator().evaluate(reduce, bindings: ValueMap([(.string("value"), 3), (.string("next"), 5)]))
        #expect(merged == .value(5))
    }

    @Test("declares an object type with stored and computed properties")
    func types() throws {
        let library = try #require(try scene(specificationScene).declarations.types["Library"])
        #expect(library.properties.map(\.name) == ["books", "availableBooksCount"])
        #expect(library.properties.map(\.type) == [.list(.dyn), .int])
        guard case .state(let initial, _) = library.properties[0].role else {
            Issue.record("books is no state")
            return
        }
        #expect(initial == [])
    }

    @Test("makes a container with two states and two children, one of them from a component")
    func nodes() throws {
        let scene = try scene(specificationScene)
        let player = try scene.node("player")
        #expect(player.kind == .container)
        #expect(player.attributes.map(\.name) == ["isPlaying", "episode"])
        #expect(try player.type("isPlaying") == .bool)
        #expect(try player.type("episode") == .map(key: .dyn, value: .dyn))
        let button = try scene.node("player", "playButton")
        #expect(button.component == "PlayButton")
        #expect(button.kind == .view)
        guard case .binding(.reference(let target)?, nil) = try button.attribute("isPlaying").role else {
            Issue.record("isPlaying is not bound")
            return
        }
        #expect(target == Reference(name: "isPlaying"))
        #expect(try button.type("isPlaying") == .bool)
        #expect(try button.type("symbol") == .string)
        #expect(try button.type("scale") == .double)
        let favorite = try scene.node("player", "favorite")
        guard case .binding(.reference(let part)?, nil) = try favorite.attribute("isOn").role else {
            Issue.record("isOn is not bound")
            return
        }
        #expect(part == Reference(name: "episode", steps: [.key("isFavorite")]))
    }

    @Test("says the same as JSON text and as a value")
    func json() throws {
        let value = try SceneReader.value(text: specificationScene)
        for other in [try scene(value.jsonText), try SceneReader.read(value: value)] {
            let button = try other.node("player", "playButton")
            #expect(button.attributes.map(\.name) == ["isPlaying", "symbol", "scale"])
            #expect(try other.node("player", "favorite").attribute("isOn").type == .dyn)
            #expect(other.declarations.preference["widest"]?.reduce != nil)
        }
    }
}

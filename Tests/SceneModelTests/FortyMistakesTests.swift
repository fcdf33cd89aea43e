import AttributeValues
import SceneModel
import Testing

/// A document with forty mistakes. Behind each stands where it is found and how its message begins: `#~ column
/// message`.
private let mistakes = #"""
    agd: 1
    node: []                                          #~ 1 a scene has no key 'node'
    keys:
      environment:
        lineLimit: { type: int }                      #~ 5 the key 'lineLimit' needs a default
        Theme: dark                                   #~ 5 an environment key begins with a small letter
        scale: { default: big, type: double }         #~ 23 the default is the text 'big', not a double
        reduceMotion: { default: "no" }               #~ 19 'reduceMotion' is a system value of type bool
        margin: { default: { left: 1, right: 1 } }
      container:
        isFeatured: false
        is-new: false                                 #~ 5 a key 'is-new' is not an identifier
      preference:
        widest: { default: 0, reduce: "value + " }    #~ 44 expected an expression
        total: { default: 0, reduce: 'string(value)' } #~ 34 reduce gives a string
      environmnt: {}                                  #~ 3 keys has no key 'environmnt'
    types:
      library: { state: {} }                          #~ 3 an object type begins with a capital
      Library:
        state: { books: [] }
        computed: { count: "bookz.size()" }           #~ 25 undeclared reference to 'bookz'
    components:
      Button:
        binding: [isOn]
        let: { title: { type: strng } }               #~ 27 there is no type 'strng'
        children: [{ component: Label, let: { text: =isOm } }] #~ 50 undeclared reference to 'isOm'
      Endless: { children: [{ component: Endless }] } #~ 3 Endless contains itself without end
      Label: { let: [text] }
    nodes:
      - id: player
        stat: { isPlaying: false }                    #~ 5 a node has no key 'stat'
        state:
          isPlaying: false
          episode: { initial: 5, type: string }       #~ 27 the initial value is the int 5, not a string
          volume: =0.5                                #~ 15 a state starts from a literal, not from a rule
          two words: 1                                #~ 7 an attribute 'two words' is not an identifier
        computed:
          isPlaying: "true"                           #~ 7 the node has an attribute 'isPlaying' already
          symbol: 'isPlayin ? "a" : "b"'              #~ 16 undeclared reference to 'isPlayin'
          label: "1 + 'a'"                            #~ 17 found no matching overload
          count: subviews.siz()                       #~ 23 undeclared reference to 'siz'
        inherit: [local]                              #~ 15 there is no environment key 'local'
        clock: { now: every second }                  #~ 19 'second' is not a length of time
        environment:
          lineLimt: 2                                 #~ 7 there is no environment key 'lineLimt'
          margin.lft: 4                               #~ 7 the environment key 'margin' has no .lft
          locale: 5                                   #~ 15 'locale' is a string, not the int 5
          objects: [$isPlaying]                       #~ 17 '$isPlaying' is a bool, not an object
        animation: { curve: bounce, value: =isPlaying } #~ 25 there is no curve 'bounce'
        children:
          - { id: a, component: Buton }               #~ 29 there is no component 'Buton'
          - { id: a, component: Button }              #~ 15 two siblings have the id 'a' #~ 29 Button needs its binding 'isOn'
          - { id: b, component: Label, let: { txt: x, text: "" } } #~ 43 Label has no parameter 'txt'
          - { id: "", kind: vew }                     #~ 15 an id cannot be empty #~ 25 the text 'vew' is not a kind of node
          - { id: c, binding: { isOn: $isPlayng } }   #~ 35 no enclosing node has an attribute 'isPlayng'
          - { id: d, binding: { isOn: =isPlaying } }  #~ 35 a binding needs something to write to
          - { id: e, binding: { x: $isPlaying.on } }  #~ 32 'isPlaying' is a bool and has no .on
          - { id: f, let: { now: env.nown, later: =env.nown } } #~ 51 no environment key 'nown'
          - { id: g, containerValues: { isFeatured: 1 } } #~ 49 'isFeatured' is a bool, not the int 1
          - { id: h, forEach: { in: $isPlaying, component: Label, let: { text: =element } } } #~ 33 forEach needs a list
          - { id: i, kind: view, children: [{ id: x }] } #~ 40 a view has no children
    """#

@Suite("A document with forty mistakes")
struct FortyMistakesTests {
    private struct Place: Hashable, CustomStringConvertible {
        var line: Int
        var column: Int
        var message: String
        var description: String { "\(line):\(column) \(message)" }
    }

    private static let expected: [Place] = mistakes.split(separator: "\n", omittingEmptySubsequences: false)
        .enumerated()
        .flatMap { number, line in
            line.split(separator: "#~").dropFirst().compactMap { mark -> Place? in
                let words = mark.split(separator: " ", maxSplits: 1)
                guard words.count == 2, let column = Int(words[0]) else { return nil }
                var message = String(words[1])
                while message.hasSuffix(" ") { message.removeLast() }
                return Place(line: number + 1, column: column, message: message)
            }
        }

    @Test("has all of them reported at once, each with its line, column and reason")
    func all() {
        #expect(FortyMistakesTests.expected.count >= 40)
        let found = faults(mistakes)
        for place in FortyMistakesTests.expected {
            let isFound = found.contains {
                $0.position.line == place.line && $0.position.column == place.column
                    && $0.message.hasPrefix(place.message)
            }
            if !isFound {
                let near = found.filter { $0.position.line == place.line }.map { "\($0.position.column) \($0.message)" }
                Issue.record("not reported: \(place); on that line: \(near)")
            }
        }
        for fault in found {
            let isExpected = FortyMistakesTests.expected.contains {
                fault.position.line == $0.line && fault.position.column == $0.column
                    && fault.message.hasPrefix($0.message)
            }
            if !isExpected {
                Issue.record("not expected: \(fault.position.line):\(fault.position.column) \(fault.message)")
            }
        }
        #expect(found.count == FortyMistakesTests.expected.count)
    }

    @Test("shows each with its line, a caret, a hint, and the other place it has to do with")
    func rendering() throws {
        let text = """
            components:
              Button:
                binding: [isOn]
            nodes:
              - id: player
                state: { isPlaying: true }
                computed: { symbol: 'isPlayin ? "a" : "b"' }
                children: [{ component: Button }]
            """
        let error = try #require(throws: SceneFaults.self) { try SceneReader.read(text: text, file: "player.yaml") }
        #expect(
            error.description == """
                player.yaml:7:26: error: undeclared reference to 'isPlayin'
                  |     computed: { symbol: 'isPlayin ? "a" : "b"' }
                  |                          ^
                  hint: did you mean 'isPlaying'?
                player.yaml:8:29: error: Button needs its binding 'isOn'
                  |     children: [{ component: Button }]
                  |                             ^
                  hint: write binding: {isOn: $…}
                  player.yaml:3:15: note: it is declared here
                """)
    }

    @Test("makes one refusal that tells them all")
    func failure() throws {
        let failure = try #require(throws: SceneFaults.self) { try SceneReader.read(text: mistakes) }.failure
        #expect(failure.code == .invalid)
        #expect(failure.message.hasPrefix("the document has \(FortyMistakesTests.expected.count) faults:"))
        #expect(failure.message.contains("did you mean 'lineLimit'?"))
    }
}

import AttributeValues
import SceneModel
import Testing

@Suite("Documents as they are written")
struct WriterTests {
    @Test(
        "YAML reads back as the value it was written from, whatever the texts look like",
        arguments: [
            #"{"a":[],"b":{},"c":null,"d":[[],[1,[2]]],"e":{"f":{"g":{"h":[{"i":1},{"j":[true]}]}}}}"#,
            ##"["true","null","~","12","1.5","0x1f","","yes","- a","a: b","a #b","#","*x","&x","!t","%","@","`","{","[","'","\"","|",">"]"##,
            #"["=a + 1","$a[id=\"x\"]","==","line\nbreak\n"," space","space ","tab\t","ünïcode 😀","\u0000\u001f\u007f","a,b","...","---"]"#,
            #"{"/a/\"b c\".d":1,"true":2,"7":3,"":4,"a b":5,"key: x":6}"#, #"[1.0,-0.5,1e300,-9223372036854775808,18446744073709551615]"#,
        ])
    func roundTrip(_ json: String) throws {
        let value = try JSONParser.parseOnce(json.utf8)
        let text = DocumentWriter.yaml(value)
        #expect(try SceneReader.value(text: text) == value, "\(text)")
    }

    @Test("what is short stands on one line, what is long on several")
    func shape() {
        let text = DocumentWriter.yaml(["nodes": [["id": "a", "state": ["n": 1, "on": true], "computed": ["t": "n + 1"]]]])
        #expect(text == "nodes:\n  - { id: a, state: { n: 1, on: true }, computed: { t: n + 1 } }\n")
    }

    @Test("values name states by path, and nothing else")
    func values() throws {
        let document = try scene("nodes: [{ id: a, state: { n: 1 } }]\nvalues: { /a.n: 5, '/b/\"c d\".e': { k: [1] } }")
        #expect(document.values.map(\.path.description) == ["/a.n", "/b/\"c d\".e"])
        #expect(document.values.map(\.value) == [5, ["k": [1]]])
        #expect(onlyFault("values: { /a: 1 }").hasPrefix("1:11 '/a' names a node, not a state"))
        #expect(onlyFault("values: { a.n: 1 }").hasPrefix("1:11 'a.n' is not a path"))
    }
}

import AttributeValues
import TestSupport
import Testing
@testable import Timelines

@Suite("CSS colours")
struct ColorTests {
    @Test(
        "every notation of CSS Color 4 is read",
        arguments: [
            ("red", "#ff0000"), (" RebeccaPurple ", "#663399"), ("transparent", "#00000000"), ("#f80", "#ff8800"),
            ("#F80C", "#ff8800cc"), ("#12345678", "#12345678"),
            ("rgb(255, 136, 0)", "#ff8800"), ("rgba(255,136,0,20%)", "#ff880033"),
            ("rgb(100% 0% 0% / 0.2)", "#ff000033"), ("rgb(300 -5 none)", "#ff0000"),
            ("hsl(120deg 100% 50%)", "#00ff00"), ("hsl(240, 100%, 50%)", "#0000ff"),
            ("hsl(0.5turn 100% 50% / 100%)", "#00ffff"),
            ("hwb(0 0% 0%)", "#ff0000"), ("hwb(90 60% 60%)", "#808080"),
            ("color(srgb 1 0.5333333333333333 0)", "#ff8800"), ("oklab(1 0 0)", "#ffffff"),
            ("lab(50% 50 0)", "#c14e79"), ("lch(50% 50 0)", "#c14e79"), ("oklch(62.7955% 0.257683 29.2339)", "#ff0000"),
            ("color(display-p3 1 1 1)", "#ffffff"), ("color(xyz 0 0 0)", "#000000"),
        ])
    func notations(text: String, hex: String) throws {
        let color = try #require(Color(css: text)), expected = try #require(Color(css: hex))
        let (a, b) = (color.encoded, expected.encoded)
        for (x, y) in [(a.red, b.red), (a.green, b.green), (a.blue, b.blue), (color.alpha, expected.alpha)] {
            #expect((x - y).magnitude < 0.5 / 255, "\(color.css)")
        }
    }

    @Test(
        "a text that is no colour is refused",
        arguments: [
            "", "rot", "#ff", "#fffff", "#ggg", "rgb(1 2)", "rgb(1 2 3 4)", "rgb(1, 2, , 3)", "rgb(a b c)",
            "rgb(1 2 3 / )", "color(1 2 3)", "color(prophoto-rgb 1 2 3)",
            "rgb(inf 0 0)", "rgb(0x10 0 0)", "rgb(nan 0 0)", "currentcolor", "rgb(1 2 3", "hsl(10% 1% 1%)",
            "rgb(1deg 2 3)", "rgb(1e999 0 0)", "(1 2 3)", "oklab(1 1e300 0)",
        ])
    func refused(text: String) { #expect(Color(css: text) == nil) }

    @Test(
        "on the way between shades of a primary colour nothing of the others shows, not even noise",
        arguments: [
            ("#100000", "red"), ("#008000", "lime"), ("#00000a", "blue"), ("red", "transparent"),
            ("rgb(0 255 0 / 0.1)", "lime"),
        ])
    func noise(from: String, to: String) throws {
        let (from, to) = (try #require(Color(css: from)), try #require(Color(css: to)))
        let (a, b) = (from.oklabComponents, to.oklabComponents)
        for step in 1..<1000 {
            let mixed = Color(oklab: Components((0..<4).map { a[$0] + (b[$0] - a[$0]) * Double(step) / 1000 }))
            for (channel, isNone) in [
                (mixed.red, max(from.red, to.red) == 0), (mixed.green, max(from.green, to.green) == 0),
                (mixed.blue, max(from.blue, to.blue) == 0),
            ] {
                #expect(!isNone || channel == 0, "\(mixed.css)")
            }
        }
    }

    @Test("a printed colour is read back equal, in every gamut")
    func roundTrip() throws {
        let seed = freshSeed()
        var random = SeededGenerator(seed: seed)
        for i in 0..<4096 {
            let color =
                i % 2 == 0
                ? Color(
                    linearRed: random.real(-0.5...1.5), green: random.real(-0.5...1.5), blue: random.real(-0.5...1.5),
                    alpha: random.pick([1, random.real(0...1)]))
                : Color(
                    red: Double(Int.random(in: 0...255, using: &random)) / 255, green: Double(i % 256) / 255, blue: 1,
                    alpha: 1)
            #expect(Color(css: color.css) == color, "seed \(seed): \(color.css)")
            if i % 2 == 1 { #expect(color.css.hasPrefix("#") && color.css.utf8.count == 7) }
        }
    }

    @Test("a transparent end gives its colour to the mixture's hue by premultiplication alone")
    func transparentEnd() throws {
        let red = try #require(Color(css: "red")), clear = try #require(Color(css: "transparent"))
        let timeline = try #require(
            Timeline(
                changing: .opaque(ColorValue(clear)), to: .opaque(ColorValue(red)),
                animation: try Animation("linear(duration: 1)"), start: 0))
        guard case .opaque(let shown) = timeline.displayed(at: 0.5), let half = (shown as? ColorValue)?.color else {
            Issue.record("no colour"); return
        }
        #expect(
            (half.alpha - 0.5).magnitude < 1e-12 && (half.red - 1).magnitude < 1e-12 && half.green.magnitude < 1e-12)
    }
}

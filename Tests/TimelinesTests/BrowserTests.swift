import AttributeValues
import Glibc
import Testing
@testable import Timelines

/// A real browser that plays what the easings say: headless Chromium, Debian's package. Where it is not installed,
/// these tests say so and are skipped.
private enum Browser {
    static let path: String? = [
        "/usr/bin/chromium-headless-shell", "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome",
    ].first {
        access($0, X_OK) == 0
    }
    /// How often what the machine had no time for is asked for.
    static let attempts = 4
    static let absence = "no Chromium is installed; apt-get install chromium-headless-shell"

    /// Loads a page, waits until its time is up, and gives what it wrote into its body between RESULT and END.
    static func result(of html: String) throws -> Value {
        let browser = try #require(path)
        var template = Array("/tmp/timelines-browser-XXXXXX".utf8CString)
        let folder = try #require(mkdtemp(&template).map { String(cString: $0) })
        defer { _ = run("rm -rf '\(folder)'") }
        let page = folder + "/page.html"
        let file = try #require(fopen(page, "w"))
        _ = html.withCString { fputs($0, file) }
        fclose(file)
        // While another test writes a file, the umask of all may take every right away for a moment.
        let command =
            "umask 022; HOME='\(folder)' timeout 120 '\(browser)' --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir='\(folder)/data' --virtual-time-budget=10000 --dump-dom 'file://\(page)' 2>/dev/null"
        var output = run(command)
        // On a busy machine it now and then gives up before it has begun.
        for _ in 0..<attempts - 1 where output.range(of: "RESULT") == nil { output = run(command) }
        let start = try #require(output.range(of: "RESULT")),
            end = try #require(output.range(of: "END"), "the page wrote no result: \(output.suffix(300))")
        return try JSONParser.parseOnce(Array(output[start.upperBound..<end.lowerBound].utf8))
    }

    private static func run(_ command: String) -> String {
        guard let pipe = popen(command, "r") else { return "" }
        defer { pclose(pipe) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&buffer, 1, buffer.count, pipe), count > 0 {
            bytes.append(contentsOf: buffer[..<count])
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Plays each case with the Web Animations API, paused at each of its times, one element per component.
    static let script = """
        CSS.registerProperty({name: '--x', syntax: '<number>', inherits: false, initialValue: '0'});
        const options = css => ({duration: parseFloat(css.duration), delay: parseFloat(css.delay ?? 0), direction: css.direction ?? 'normal',
            iterations: css.iterations === 'infinite' ? Infinity : css.iterations ?? 1, fill: 'both'});
        const frames = (css, value) => (css.keyframes ?? [0, 1]).map(k => ({...value(k), easing: css.easing}));
        const element = () => document.body.appendChild(document.createElement('div'));
        const number = e => parseFloat(getComputedStyle(e).getPropertyValue('--x'));
        function play(c, i) {
            const e = element();
            const all = [e.animate(frames(c.css, k => ({'--x': c.from[i] + (c.to[i] - c.from[i]) * k})), options(c.css))];
            if (c.css.velocityEasing)
                all.push(e.animate([{'--x': 0, easing: c.css.velocityEasing}, {'--x': c.velocity[i] * c.css.velocityScale}],
                                   {...options(c.css), composite: 'add'}));
            return [e, all];
        }
        async function main() {
            const result = [];
            for (const c of cases) {
                if (c.css.from) {
                    const e = element();
                    const a = e.animate(frames(c.css, k => ({backgroundColor: k ? c.css.to : c.css.from})), options(c.css));
                    a.pause();
                    result.push(c.times.map(t => { a.currentTime = t; return getComputedStyle(e).backgroundColor; }));
                    continue;
                }
                const parts = c.from.map((_, i) => play(c, i));
                for (const [, all] of parts) for (const a of all) a.pause();
                result.push(c.times.map(t => parts.map(([e, all]) => { for (const a of all) a.currentTime = t; return number(e); })));
            }
            // Joins in mid-flight: as if it had started that long ago. Then lets it run.
            const joined = [];
            for (let late = 25; late < 800; late += 25) {
                const [e, [a]] = play(cases[0], 0);
                a.startTime = document.timeline.currentTime - late;
                joined.push([a.currentTime, number(e)]);
            }
            const running = [];
            const [e, [a]] = play(cases[1], 0);
            a.startTime = document.timeline.currentTime - 400;
            for (let i = 0; i < 30; i++) {
                await new Promise(next => setTimeout(next, 100));
                running.push([a.currentTime, number(e)]);
            }
            document.body.textContent = 'RES' + 'ULT' + JSON.stringify({result, joined, running}) + 'E' + 'ND';
        }
        main().catch(error => { document.body.textContent = 'RES' + 'ULT' + JSON.stringify({error: String(error)}) + 'E' + 'ND'; });
        """
}

extension String {
    fileprivate func range(of needle: String) -> Range<String.Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(needle) { return start..<index(start, offsetBy: needle.count) }
            start = index(after: start)
        }
        return nil
    }
}

@Suite("In a browser", .serialized)
struct BrowserTests {
    private struct Case {
        var name: String
        var timeline: Timeline
        var css: TimelineCSS
        var times: [Double]

        init(_ name: String, _ timeline: Timeline, seconds: Double? = nil) throws {
            var cache = EasingCache()
            let css = cache.css(for: timeline)
            self.name = name
            self.timeline = timeline
            self.css = try #require(css)
            let length = (seconds ?? timeline.settle) * 1000
            times = (0..<400).map { length * (Double($0) + 0.5) / 400 }
        }

        var json: Value {
            let event = Value.map(timeline.event(id: 1, css: css))
            func list(_ components: Components) -> Value { .list(components.elements.map { .double($0) }) }
            return [
                "css": event["css"], "from": list(timeline.from), "to": list(timeline.to),
                "velocity": list(timeline.velocity), "times": .list(times.map { .double($0) }),
            ]
        }
    }

    @Test(
        "Chromium plays every easing within 1e-3 of the closed form, joins in mid-flight, mirrors, and mixes colours",
        .enabled(if: Browser.path != nil, Comment(rawValue: Browser.absence)), .timeLimit(.minutes(3)))
    func plays() throws {
        func step(_ text: String, seconds: Double? = nil) throws -> Case {
            try Case(text, Timeline(from: 0, to: 1, animation: try Animation(text), start: 0), seconds: seconds)
        }
        var cases = try [
            "bouncy", "bouncy.speed(0.1)", "smooth", "snappy", "spring(duration: 0.5, bounce: 0.7)",
            "spring(duration: 0.5, bounce: -0.5)", "bouncy.speed(0.5).delay(0.25)", "easeInOut(duration: 1)",
            "timingCurve(0.68, -0.55, 0.265, 1.55, duration: 1)", "circularEaseInOut(duration: 1)",
            "easeIn(duration: 0.5).repeatCount(3)",
            "easeIn(duration: 0.5).repeatCount(3, autoreverses: reverse)",
            "linear(duration: 0.5).repeatCount(3, autoreverses: false)", "bouncy.repeatCount(3)",
            "keyframes(linear(0.5, duration: 0.2), cubic(1.2, duration: 0.3), spring(1, duration: 0.8, spring: bouncy))",
        ].map { try step($0) }
        cases.append(try step("easeIn(duration: 1).repeatForever", seconds: 20))
        let moving = Timeline(from: 0, to: 1, animation: .bouncy, start: 0)
        for text in ["smooth", "easeInOut(duration: 1)"] {
            cases.append(
                try Case("retargeted to \(text)", moving.retarget(to: 3, animation: try Animation(text), at: 0.1)))
        }
        let vector = Timeline(
            space: .vector, from: [0, 4, 1], to: [1, 4, 0], velocity: [2, -6, 5], animation: .bouncy, start: 0)
        cases.append(try Case("vector with velocities", vector))
        let (red, blue) = (try #require(Color(css: "red")), try #require(Color(css: "rgb(0 0 255 / 40%)")))
        cases.append(
            try Case(
                "colour",
                try #require(
                    Timeline(
                        changing: .opaque(ColorValue(red)), to: .opaque(ColorValue(blue)), animation: .smooth, start: 0)
                )))

        let list = Value.list(cases.map(\.json)).jsonText
        let page = "<!doctype html><body><script>const cases = \(list);\n\(Browser.script)</script>"
        func moments(_ answer: Value) -> Set<Double> { Set((answer["running"].list ?? []).map { $0[0].real }) }
        var answer = try Browser.result(of: page)
        // The browser's time goes on without frames where the machine is too busy for them; animations move with frames
        // alone.
        for _ in 0..<Browser.attempts - 1 where moments(answer).count <= 5 { answer = try Browser.result(of: page) }
        #expect(answer["error"].isNull, "\(answer["error"])")
        let results = try #require(answer["result"].list)
        #expect(results.count == cases.count)
        for (c, result) in zip(cases, results) {
            let worst = try worstError(c, result)
            print("Chromium, \(c.name): \(worst)")
            #expect(worst <= 1e-3, "\(c.name): \(worst)")
        }
        let joined = try #require(answer["joined"].list), running = try #require(answer["running"].list)
        #expect(joined.count == 31 && joined.first?[0].real == 25)
        var worst = 0.0
        for (c, samples) in [(cases[0], joined), (cases[1], running)] {
            for sample in samples {
                worst = max(
                    worst, (sample[1].real - c.timeline.value(at: sample[0].real / 1000).first).magnitude - 2e-6)
            }
        }
        let passed = moments(answer)
        #expect(passed.count > 5 && (passed.min() ?? 0) >= 400, "time went on: \(passed)")
        print("Chromium, joined in mid-flight and running on: \(worst)")
        #expect(worst <= 1e-3)
    }

    /// The greatest error as a part of the distance, with the velocity's reach counted as distance. What the browser
    /// rounds in printing (six digits) is allowed for.
    private func worstError(_ c: Case, _ result: Value) throws -> Double {
        var worst = 0.0
        for (time, shown) in zip(c.times, result.list ?? []) {
            let exact = c.timeline.exactState(at: c.timeline.start + time / 1000).value
            var got = shown.reals
            if let text = shown.string { got = try #require(Color(css: text), "\(text)").oklabComponents.elements }
            try #require(got.count == exact.count)
            for i in 0..<exact.count {
                let scale =
                    c.timeline.space.isColor
                    ? 1
                    : (c.timeline.to[i] - c.timeline.from[i]).magnitude
                        + (c.timeline.velocity[i] * c.css.velocityScale).magnitude
                worst = max(worst, ((got[i] - exact[i]).magnitude - 2e-6 * max(1, exact[i].magnitude)) / scale)
            }
        }
        return worst
    }
}

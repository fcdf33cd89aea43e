import AttributeValues
import Foundation
import TestSupport
import Testing

/// What the documentation shows is what happens.
@Suite("Documentation")
struct DocumentationTests {
    @Test("the commands for socat do what Protocol.md says")
    func socat() throws {
        let daemon = try Daemon(sceneFiles: ["Examples/podcast.yaml"])
        let transcripts = try Transcript.below("By hand", in: Project.text("Documentation/Protocol.md"))
        #expect(transcripts.flatMap(\.steps).allSatisfy { $0.command.contains("socat") })
        try TranscriptRunner(daemon).run(transcripts)
    }

    @Test("README's five minutes go as README says")
    func tour() throws {
        let daemon = try Daemon(sceneFiles: ["Examples/host-monitor.yaml"])
        try TranscriptRunner(daemon).run(Transcript.below("Five minutes", in: Project.text("README.md")))
    }

    @Test("the tutorial goes as it says, from beginning to end")
    func tutorial() throws {
        // As `make run` starts it.
        let daemon = try Daemon(sceneFiles: ["Examples/host-monitor.yaml", "dashboard/panels.yaml"])
        let folder = try Folder()
        let runner = TranscriptRunner(daemon, in: folder.path)
        for section in try Project.text("Documentation/Tutorial.md").components(separatedBy: "\n## ").dropFirst() {
            for (name, text) in Transcript.files(in: section) { _ = try folder.write(text, to: name) }
            guard section.contains("```console") else { continue }
            let title = section.prefix { $0 != "\n" }
            try runner.run(Transcript.below(String(title), in: "## " + section))
        }
        // The board has a card for everything that the last scene describes.
        let board = try daemon.control(["dash", "/greenhouse", "--json"]).text
        for title in ["tomatoes", "peppers", "All beds", "Temperature", "Climate", "Limit"] {
            #expect(board.contains("\"\(title)\""), "\(board)")
        }
    }

    @Test(
        "the site builds, and its links lead somewhere",
        .enabled(if: hasGenerator, "make site has not been called, which installs the generator"))
    func site() throws {
        let site = try Program.run(
            "/usr/bin/python3", [Project.file("Scripts/site")], environment: ["AGD_PROGRAMS": Program.folder],
            folder: Folder())
        #expect(site.code == 0, "\(site.text)")
        let animation = try Project.text(".build/site/html/Documentation/Animation.html")
        #expect(animation.contains("<svg") && !animation.contains("⠤"))
    }

    private static let hasGenerator = FileManager.default.isExecutableFile(
        atPath: Project.file(".build/site/venv/bin/mkdocs"))

    @Test("the podcast script runs from beginning to end, twice")
    func podcast() throws {
        let daemon = try Daemon()
        for _ in 0..<2 {
            let script = try Program.run(
                "/bin/bash", [Project.file("Examples/podcast.sh")],
                environment: [
                    "AGD_SOCKET": daemon.socket,
                    "PATH": Program.folder + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? ""),
                ], folder: daemon.folder)
            #expect(script.code == 0, "\(script.text)")
            #expect(script.text.contains("pause.circle"))
        }
        // What the script leaves behind.
        let client = try daemon.client()
        #expect(try client.get("/podcaster.episode.isFavorite") == true)
    }

    /// Programs and pages as an installation has them.
    private func installation() throws -> Folder {
        let folder = try Folder()
        let files = FileManager.default
        for path in ["bin", "share/agd"] {
            try files.createDirectory(atPath: folder.file(path), withIntermediateDirectories: true)
        }
        // Another program copies them. A copy that this one writes is open in what other tests start meanwhile, and a
        // file that is open for writing cannot be executed.
        let programs = ["agd", "agctl", "agd-past", "agd-host-feeder", "agd-gateway"].map(Program.built)
        #expect(try Program.run("/bin/cp", programs + [folder.file("bin")], folder: folder).code == 0)
        let pages = ["-LR", Project.file("dashboard"), folder.file("share/agd")]
        #expect(try Program.run("/bin/cp", pages, folder: folder).code == 0)
        return folder
    }

    @Test(
        "make run's script starts the installed agd, feeder and dashboard, says where they are, and ends them on Ctrl-C"
    )
    func run() throws {
        let folder = try Folder()
        let installation = try installation()
        let (ours, theirs) = try Descriptor.pair()
        let script = try Program(
            "/bin/bash", [Project.file("Scripts/run"), "--installed"],
            environment: [
                "PATH": installation.file("bin") + ":/usr/bin:/bin", "AGD_RUN": folder.path, "AGD_PORT": "0",
            ], folder: folder, standardOutput: theirs)
        var stage = "the script's output"
        do {
            let output = Client(socket: ours)
            var address = ""
            while let line = try output.line(), !line.contains("agctl watch") {
                if let found = line.firstMatch(of: /http:\/\/127.0.0.1:(\d+)/) { address = String(found.1) }
                stage = "the script's output behind '\(line)'"
            }
            stage = "the page"
            let page = Client(socket: try TCP.connect(port: try #require(UInt16(address))))
            try page.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r")
            #expect(try page.line()?.hasPrefix("HTTP/1.1 200") == true)
            stage = "the host's values"
            let client = try Client(folder.file("agd.sock"))
            try client.call("subscribe", ["paths": ["/host.isStale"]])
            #expect(try client.value(of: "/host.isStale") { $0 == false } == false)
        } catch {
            let logs = ["agd.log", "panels.log", "feeder.log", "gateway.log"].map { name in
                "\(name): " + ((try? String(contentsOfFile: folder.file(name), encoding: .utf8)) ?? "none")
            }
            throw Trouble("\(stage): \(error)\n\(script.text)\n\(logs.joined(separator: "\n"))")
        }
        script.signalGroup(SIGINT)
        // `wait` returns when all that the script has started is gone as well.
        #expect(try script.wait() == 0, "\(script.text)")
        #expect(!FileManager.default.fileExists(atPath: folder.file("agd.sock")))
    }

    @Test("files that the documentation names are there")
    func links() throws {
        for document in ["README.md", "CHANGELOG.md"] {
            let text = try Project.text(document)
            for match in text.matches(of: #/\]\(([^)#]+)(#[^)]*)?\)/#) where !match.1.hasPrefix("http") {
                #expect(
                    FileManager.default.fileExists(atPath: Project.file(String(match.1))),
                    "\(document) names \(match.1)")
            }
        }
    }

    @Test("the examples of the operators' page give the results that it shows")
    func operations() throws {
        let daemon = try Daemon(sceneFiles: ["Examples/podcast.yaml"])
        let page = try Project.text("Documentation/Operations.md")
        try TranscriptRunner(daemon).run(Transcript.below("Who did that?", in: page))
        try TranscriptRunner(daemon).run(Transcript.below("Backup", in: page))
    }

    @Test("no module imports Foundation, as ARCHITECTURE says") func foundation() throws {
        let files = try FileManager.default.subpathsOfDirectory(atPath: Project.file("Sources"))
        let sources = files.filter { $0.hasSuffix(".swift") }
        #expect(sources.count > 400)
        for file in sources {
            #expect(!(try Project.text("Sources/\(file)").contains(/(?m)^ *(\w+ )?import Foundation/)), "\(file)")
        }
    }

    @Test("the operators' page has the exit statuses of agd, and in bold those after which systemd leaves it alone")
    func exitStatuses() throws {
        let page = try Project.text("Documentation/Operations.md")
        let rows = page.matches(of: /(?m)^\| (\*\*)?(\d\d)(\*\*)? \|/).map {
            (status: String($0.2), isBold: $0.1 != nil)
        }
        // A fault of the program itself is no status that the help promises.
        let help = try Program.run("agd", ["--help"], folder: Folder()).text
        let promised = help[try #require(help.range(of: "Exit status:")).upperBound...]
        let statuses = Set(promised.matches(of: /\b[67]\d\b/).map { String($0.output) })
        #expect(Set(rows.map(\.status)) == statuses.union(["70"]))
        let unit = try Project.text("systemd/agd.service").split(separator: "\n")
        let prevented = try #require(unit.first { $0.hasPrefix("RestartPreventExitStatus=") }).split(whereSeparator: {
            " =".contains($0)
        })
        let left: [String] = prevented.dropFirst().map { String($0) }
        #expect(Set(rows.filter(\.isBold).map(\.status)) == Set(left))
    }

    @Test("the counters that the operators' page names are there")
    func counters() throws {
        let table = try #require(
            try Project.text("Documentation/Operations.md").components(separatedBy: "Worth an alarm").last?.components(
                separatedBy: "## "
            ).first)
        let named = table.matches(of: /(?m)^\| `([a-z_]+)` \|/).map { String($0.1) }
        #expect(named.count >= 6)
        let daemon = try Daemon()
        let stats = try Program.run(
            "agctl", ["stats"], environment: ["AGD_SOCKET": daemon.socket], folder: daemon.folder
        ).text
        for name in named { #expect(stats.contains("\n\(name)\t"), "\(name)") }
    }

    @Test("an expected line with … matches anything there, and nothing else")
    func wildcards() {
        #expect(Transcript.matches(#"{"revision":12}"#, #"{"revision":…}"#))
        #expect(Transcript.matches("a b c", "a…c"))
        #expect(Transcript.matches("", "…"))
        #expect(!Transcript.matches("a b c", "a…b"))
        #expect(!Transcript.matches("a b c", "b…c"))
        #expect(!Transcript.matches("abc", "ab"))
    }
}

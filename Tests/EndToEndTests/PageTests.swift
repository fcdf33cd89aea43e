import AttributeValues
import Foundation
import TestSupport
import Testing

/// An example of a page: a fenced block.
struct PageExample: CustomTestStringConvertible {
    var page: String
    var number: Int
    var language: String
    var text: String

    /// True for a test file of `agctl test`.
    var isTest: Bool { text.firstMatch(of: /(?m)^tests:/) != nil }

    var testDescription: String { "\(page), \(language) \(number)" }

    static func all(of page: String) throws -> [PageExample] {
        var examples: [PageExample] = []
        var open: (indent: String, example: PageExample)?
        for line in try Project.text(page).components(separatedBy: "\n") {
            let text = line.drop { $0 == " " }
            if let (indent, begun) = open {
                var example = begun
                if text == "```" {
                    examples.append(example)
                    open = nil
                } else {
                    example.text += (line.hasPrefix(indent) ? line.dropFirst(indent.count) : text) + "\n"
                    open = (indent, example)
                }
            } else if text.hasPrefix("```") {
                let language = text.dropFirst(3).prefix { $0 != " " }
                let example = PageExample(page: page, number: examples.count, language: String(language), text: "")
                open = (String(line.prefix(line.count - text.count)), example)
            }
        }
        return examples
    }

    static func all(_ language: String, of pages: [String]) -> [PageExample] {
        pages.flatMap { (try? all(of: $0)) ?? [] }.filter { $0.language == language }
    }
}

/// The examples on the pages of the site. Tests of their own run the tour of README.md, the tutorial, the recipes, the
/// rules of Rules.md, the curves of Animation.md, the messages of Protocol.md, the scenes of SwiftScenes.md, the pages
/// and web servers of Dashboard.md, and the clients' pages.
@Suite("Pages")
struct PageTests {
    /// The languages of the examples that some test runs.
    private static let tested: [String: Set<String>] = [
        "README.md": ["yaml", "sh", "console"],
        "CONTRIBUTING.md": ["sh"],
        "Documentation/Tutorial.md": ["yaml", "python", "sh", "console"],
        "Documentation/agctl.md": ["sh", ""],
        "Documentation/Animation.md": ["sh", "console", "json", "js"],
        // The numbers of the formats, which a test of `agd --version` compares.
        "Documentation/Compatibility.md": [""],
        "Documentation/Dashboard.md": ["yaml", "html", "console", "nginx", ""],
        "Documentation/Editors.md": ["lua", "toml", "json"],
        "Documentation/Fleet.md": ["yaml", "sh", ""],
        "Documentation/Operations.md": ["sh", "console"],
        // ArchivedPastTests does what the console shows.
        "Documentation/Past.md": ["yaml", "sh", "console", ""],
        "Documentation/Protocol.md": ["", "console"],
        "Documentation/Recipes.md": ["sh"],
        "Documentation/World.md": ["yaml", "sh", ""],
        "Documentation/Rules.md": ["yaml", "cel"],
        "Documentation/Cookbook.md": ["yaml"],
        "Documentation/Scenes.md": ["yaml"],
        "Documentation/SceneReference.md": ["yaml"],
        "Documentation/SceneTests.md": ["yaml", "console", ""],
        "Documentation/SwiftScenes.md": ["yaml", "swift"],
        "clients/javascript/README.md": ["js"],
        "clients/python/README.md": ["python", "sh"],
    ]

    @Test("no page of the site has examples of a language that no test runs")
    func languages() throws {
        let navigation = try Project.text("Documentation/site/mkdocs.yml")
        let pages = navigation.matches(of: /: (\S+\.md)\n/).map { String($0.1) }.filter {
            FileManager.default.fileExists(atPath: Project.file($0))
        }
        #expect(pages.count > 15)
        for page in pages {
            let languages = Set(try PageExample.all(of: page).map(\.language))
            #expect(languages.isSubset(of: Self.tested[page] ?? []), "\(page)")
        }
    }

    // MARK: - Scenes

    /// What the examples assume around them.
    private static let surroundings = """
        keys:
          environment: { lineLimit: { default: null, type: "int?" }, fontScale: 1.0, pinPosition: { default: { rotation: 0.0 } } }
          container: { isFeatured: false, siteIsLive: false, pinPosition: { default: { xOffset: 0 } } }
          preference: { widest: 0 }
        types: { Library: { state: { books: [] } } }
        components:
          Row: { let: { title: { type: string } }, binding: { isDone: { type: bool } } }
        nodes:
          - id: page
            kind: container
            state:
              library: { type: Library }
              load: 0.5
              offset: 3
              width: 100
              isPlaying: true
              items: [{ id: a, title: One, isDone: true }]
            children:
              - { id: example, state: { temperature: 81.0, isQuiet: true, bytes: 100 } }
              - { id: fleet, kind: container }

        """

    private static let scenes = PageExample.all(
        "yaml",
        of: [
            "README.md", "Documentation/Scenes.md", "Documentation/SceneReference.md", "Documentation/Rules.md",
            "Documentation/Dashboard.md",
            "Documentation/Fleet.md", "Documentation/World.md", "Documentation/Past.md",
        ]
    ).filter { !$0.isTest }

    @Test("a scene applies to a daemon", arguments: scenes) func scene(example: PageExample) throws {
        let text: String
        if example.text.firstMatch(of: /(?m)^(nodes|keys|types|components|values|dangling|agd):/) != nil {
            text = example.text
        } else {
            let indented = example.text.split(separator: "\n").map { "    \($0)\n" }.joined()
            text = "nodes:\n" + (example.text.hasPrefix("- ") ? "" : "  - id: example\n") + indented
        }
        let daemon = try Daemon(scenes: [Self.surroundings], sceneFiles: ["dashboard/panels.yaml"])
        let file = try daemon.folder.write(text, to: "example.yaml")
        try daemon.folder.write(Project.text("Examples/alerts.yaml"), to: "alerts.yaml")
        let told = try daemon.control(["apply", "-f", file, "--merge", "--at", "/page"])
        #expect(told.code == 0, "\(told.text)\n\(text)")
    }

    @Test(
        "boards can be checked without a daemon, with the library that they use", arguments: ["home", "ci", "sensors"])
    func boards(name: String) throws {
        let folder = try Folder()
        let board = Project.file("Examples/dashboards/\(name).yaml")
        let told = try Program.run(
            "agctl", ["check", "--with", Project.file("dashboard/panels.yaml"), board], folder: folder)
        #expect(told.code == 0, "\(told.text)")
        let alone = try Program.run("agctl", ["check", board], folder: folder)
        #expect(alone.code == 65 && alone.text.contains("there is no component 'Cards'"), "\(alone.text)")
    }

    // MARK: - Commands

    /// Programs of the system, which do nothing here.
    private static let replaced = [
        "apt", "docker", "systemctl", "runuser", "journalctl", "install", "nats-server", "cp", "rm", "pip", "mkdir",
        "chgrp", "rsync",
    ]

    private static let shellExamples = PageExample.all(
        "sh", of: tested.keys.sorted()
    ).filter {
        !$0.text.contains("MQTT_OPTIONS")
            && (!$0.text.contains("jq -") || FileManager.default.isExecutableFile(atPath: "/usr/bin/jq"))
    }

    @Test(
        "commands do what they are shown for",
        arguments: shellExamples + PageExample.all("console", of: ["Documentation/Dashboard.md"]))
    func commands(example: PageExample) throws {
        let scene = """
            import: \(Project.file("Examples/alerts.yaml"))
            nodes:
              - { id: player, state: { isPlaying: false, volume: 0.5, title: "" } }
              - { id: lock, state: { owner: { type: "string?" } } }
              - { id: jobs, state: { done: 0 } }
              - { id: boiler, state: { temperature: { type: "double?" } } }
              - { id: fleet, kind: container, children: [{ id: web, state: { isLive: true } }] }
              - { id: lamps, kind: container, children: [{ id: hall, state: { isOn: true } }] }
              - id: freezer
                component: Maintained
                children: [{ id: hot, component: Alert, let: { isOn: true } }]

            """
        let folder = try Folder()
        let daemon = try Daemon(
            scenes: [scene], sceneFiles: ["Examples/host-monitor.yaml"],
            configuration: "state-directory = \(folder.file("state"))\n", folder: folder)
        // No command reaches the system: its folders are below this one.
        for name in ["etc/agd", "etc/bash_completion.d", "var/backups", "var/lib/prometheus/node-exporter"] {
            try FileManager.default.createDirectory(atPath: folder.file(name), withIntermediateDirectories: true)
        }
        _ = try folder.write(
            "nats = nats://127.0.0.1:4222\npublish = /host/** as hosts/web-01\n", to: "etc/agd/link.conf")
        // What a command writes is not left in the checkout.
        var prelude = "cd \(folder.path)\n" + Self.replaced.map { "\($0)() { :; }\n" }.joined()
        // `make` reads the targets. The others do not end by themselves, take their time, look at this machine, or need
        // a mirror.
        prelude += """
            make() { command make -C \(Project.root) -n "$@" >/dev/null; }
            sensor() { printf '%s\\n' 71.5 72; }
            agd-link() { [[ $* != *--check-config ]] || command agd-link "$@"; }
            agd-past() { command agd-past --help >/dev/null; }
            agctl() {
                # Nobody serves the past here.
                if [[ " $* " = *" --time "* ]]; then command agctl "$@" || (($? == 69)); return; fi
                case $1 in
                    log | undo) command agctl "$@" || (($? == 69)) ;;
                    watch) command agctl "$@" --once ;;
                    top) command agctl "$@" --count 1 --interval 0.1 ;;
                    trace) command agctl "${@/#5/0.2}" >/dev/null ;;
                    backup) command agctl "$@" --state-directory \(folder.file("state")) ;;
                    doctor) command agctl "$@" || (($? == 1)) ;;
                    sites | alerts) command agctl "$@" || (($? == 66)) ;;
                    *) command agctl "$@" ;;
                esac
            }

            """
        var text = example.text.replacing(#/(?m)^\$ /#, with: "")
        for name in ["/etc/", "/var/"] { text = text.replacing(" \(name)", with: " \(folder.path)\(name)") }
        // The variables are already there, and lead elsewhere.
        text = text.split(separator: "\n").filter { !$0.hasPrefix("export AGD_SOCKET") && !$0.contains("&& cd ") }
            .joined(separator: "\n")
        let run = try Program.run(
            "/bin/bash", ["-euo", "pipefail", "-c", prelude + text],
            environment: ["AGD_SOCKET": daemon.socket, "PATH": "\(Program.folder):/usr/bin:/bin"], folder: folder)
        #expect(run.code == 0, "\(text)\n\(run.text)")
        if text.contains("agctl backup") {
            #expect(FileManager.default.fileExists(atPath: folder.file("var/backups/agd.db")))
        }
        if text.contains("feed /boiler") { #expect(try daemon.client().get("/boiler.temperature") == .null) }
        if text.contains("/player.title") {
            #expect(try daemon.client().get("/player.title") == "5\nset /player.isPlaying true")
        }
        if text.contains("/lock.owner") { #expect(try daemon.client().get("/lock.owner") == "me") }
        if text.contains("/player.volume 0.2") { #expect(try daemon.client().get("/player.volume") == 0.2) }
    }

    // MARK: - Tests of scenes

    @Test(
        "a test of a scene passes",
        arguments: PageExample.all("yaml", of: ["README.md", "Documentation/SceneTests.md"]).filter(\.isTest))
    func test(example: PageExample) throws {
        let folder = try Folder()
        try FileManager.default.createSymbolicLink(
            atPath: folder.file("Examples"), withDestinationPath: Project.file("Examples"))
        let file = try folder.write(example.text, to: "freezer.test.yaml")
        let told = try Program.run("agctl", ["test", file], folder: folder)
        #expect(told.code == 0, "\(told.text)")
        let page = PageExample.all("console", of: ["Documentation/SceneTests.md"]).map(\.text).joined()
        if example.page != "README.md" {
            #expect(page == "$ agctl test freezer.test.yaml\n" + told.text.replacing(file, with: "freezer.test.yaml"))
        }
    }

    /// A scene of the cookbook, and its test.
    struct Recipe: CustomTestStringConvertible {
        var title: String
        var scene: String
        var test: String
        var testDescription: String { title }
    }

    private static let recipes: [Recipe] = {
        guard let page = try? Project.text("Documentation/Cookbook.md") else { return [] }
        let titles = page.matches(of: /(?m)^## (.*)$/).map { String($0.1) }
        let blocks = PageExample.all("yaml", of: ["Documentation/Cookbook.md"])
        return zip(titles, stride(from: 0, to: blocks.count - 1, by: 2)).map {
            Recipe(title: $0, scene: blocks[$1].text, test: blocks[$1 + 1].text)
        }
    }()

    @Test("a recipe of the cookbook is a scene of at most ten lines, and its test passes", arguments: recipes)
    func recipe(recipe: Recipe) throws {
        #expect(recipe.scene.split(separator: "\n").count <= 10 && !recipe.scene.contains("tests:"))
        let folder = try Folder()
        _ = try folder.write(recipe.scene, to: "recipe.yaml")
        let told = try Program.run(
            "agctl", ["test", folder.write(recipe.test, to: "recipe.test.yaml")], folder: folder)
        #expect(told.code == 0, "\(told.text)")
    }

    @Test("the cookbook answers twenty questions, each with a scene and a test") func cookbook() throws {
        let page = try Project.text("Documentation/Cookbook.md")
        #expect(Self.recipes.count >= 20 && Self.recipes.count == page.matches(of: /(?m)^##\h/).count)
        #expect(PageExample.all("yaml", of: ["Documentation/Cookbook.md"]).count == Self.recipes.count * 2)
    }

    // MARK: - Made from the checker

    @Test("the tables of the scene reference and the JSON schema are current: Scripts/reference writes them")
    func reference() throws {
        let folder = try Folder()
        let page = try Program.run(
            "agctl-scene", ["--reference", Project.file("Documentation/SceneReference.md")], folder: folder)
        let present = try Project.text("Documentation/SceneReference.md")
        #expect(page.code == 0 && page.text == present)
        let schema = try Program.run("agctl-scene", ["--schema"], folder: folder)
        let written = try Project.text("config/scene.schema.json")
        #expect(schema.code == 0 && schema.text == written)
    }

    // MARK: - The rest

    @Test("the settings of editors start agctl lsp, and those of Helix are TOML") func editors() throws {
        let page = "Documentation/Editors.md"
        let settings = PageExample.all("lua", of: [page]) + PageExample.all("toml", of: [page])
        #expect(settings.count == 2)
        for example in settings { #expect(example.text.contains(/.agctl.(, |\nargs = \[).lsp./), "\(example.text)") }
        let folder = try Folder()
        let file = try folder.write(settings[1].text, to: "languages.toml")
        let told = try Program.run(
            "/usr/bin/python3", ["-c", "import sys, tomllib; tomllib.load(open(sys.argv[1], 'rb'))", file],
            folder: folder)
        #expect(told.code == 0, "\(told.text)")
    }

    @Test(
        "JSON is JSON",
        arguments: PageExample.all("json", of: ["Documentation/Animation.md", "Documentation/Editors.md"]))
    func json(example: PageExample) throws {
        _ = try JSONParser.parseOnce(example.text.utf8)
    }

    @Test("lines of configuration are accepted by the programs that read them")
    func configuration() throws {
        let folder = try Folder()
        let pages = [
            "Documentation/Fleet.md", "Documentation/Dashboard.md", "Documentation/agctl.md", "Documentation/World.md",
        ]
        var read = 0
        for example in PageExample.all("", of: pages) {
            let told: (code: Int32, text: String)
            if example.text.hasPrefix("access =") {
                let text = example.text.replacing("user:agd-dashboard", with: "user:root")
                let file = try folder.write(text, to: "agd.conf")
                told = try Program.run("agd", ["--config", file, "--check-config"], folder: folder)
            } else if example.text.hasPrefix("nats =") {
                let file = try folder.write(example.text, to: "link.conf")
                told = try Program.run("agd-link", ["--config", file, "--check-config"], folder: folder)
            } else if ["scrape =", "mqtt ="].contains(where: example.text.hasPrefix) {
                let file = try folder.write(example.text, to: "bridge.conf")
                told = try Program.run("agd-bridge", ["--config", file, "--check-config"], folder: folder)
            } else if example.text.hasPrefix("# name = socket") {
                try FileManager.default.createDirectory(
                    atPath: folder.file("agd"), withIntermediateDirectories: true)
                _ = try folder.write(example.text, to: "agd/contexts")
                told = try Program.run(
                    "agctl", ["contexts"], environment: ["XDG_CONFIG_HOME": folder.path], folder: folder)
                #expect(told.text.contains("kitchen") && told.text.contains("web-01"))
            } else if example.text.hasPrefix("agd ") {
                let line = example.text.trimmingCharacters(in: .whitespacesAndNewlines)
                told = try Program.run(
                    "/bin/sh", ["-c", "cd \(Project.root) && \(line) --check-config"],
                    environment: ["PATH": Program.folder], folder: folder)
            } else {
                continue
            }
            read += 1
            #expect(told.code == 0, "\(example.text)\(told.text)")
        }
        #expect(read == 8)
    }
}

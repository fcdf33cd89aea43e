import Foundation
import TestSupport
import Testing

/// Whether the tools are there that a package is made with.
private let canMakePackages = ["dpkg-deb", "dpkg-shlibdeps"].allSatisfy {
    FileManager.default.isExecutableFile(atPath: "/usr/bin/" + $0)
}

/// Packages of programs that do nothing. Making them takes seconds, so the tests of the suite share them.
private final class Packages: Sendable {
    @TaskLocal static var made: Packages?

    private let folder: Folder
    let files: [String]

    init() throws {
        folder = try Folder()
        let made = try PackageTests.make(of: { _ in "/bin/true" }, in: folder)
        try #require(made.code == 0, "\(made.text)")
        files = try FileManager.default.contentsOfDirectory(atPath: folder.file("packages")).sorted().map {
            [folder] in
            folder.file("packages/" + $0)
        }
    }
}

private struct MakesPackages: SuiteTrait, TestScoping {
    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await Packages.$made.withValue(Packages()) { try await function() }
    }
}

/// The Debian packages: what is in them, and what they ask of a machine.
@Suite("Package", .enabled(if: canMakePackages, "dpkg-dev is not installed"), MakesPackages())
struct PackageTests {
    private let folder: Folder
    private let packages: [String]
    /// The one with the daemon.
    private let package: String

    init() throws {
        folder = try Folder()
        packages = try #require(Packages.made).files
        package = try #require(packages.first { $0.contains("/agd_") })
    }

    fileprivate static func make(
        of program: (String) -> String, in folder: Folder, _ settings: [String: String] = [:]
    ) throws -> (code: Int32, text: String) {
        for name in ["programs", "packages"] {
            try FileManager.default.createDirectory(atPath: folder.file(name), withIntermediateDirectories: true)
        }
        let all = [
            "agd", "agctl", "agctl-scene", "agd-past", "agd-host-feeder", "agd-gateway", "agd-link", "agd-bridge",
        ]
        for name in all {
            // Linked: a copy that another test's new process still holds open for writing could not be run.
            try FileManager.default.createSymbolicLink(
                atPath: folder.file("programs/" + name), withDestinationPath: program(name))
        }
        return try Program.run(
            Project.file("Scripts/package"), [folder.file("packages")],
            environment: [
                "AGD_PROGRAMS": folder.file("programs"), "AGD_HELP": Program.folder, "AGD_COMPRESSION": "gzip",
                "DEBFULLNAME": "A Builder", "DEBEMAIL": "builder@example.org",
            ].merging(settings) { $1 },
            folder: folder)
    }

    private func ask(_ arguments: String...) throws -> String {
        let told = try Program.run("/usr/bin/dpkg-deb", arguments, folder: folder)
        try #require(told.code == 0, "\(told.text)")
        return told.text
    }

    /// Unpacks its files and its control files.
    private func unpack() throws -> String {
        let root = folder.file("root")
        _ = try ask("--raw-extract", package, root)
        return root
    }

    @Test("its version is the programs', and it depends on what they are linked with") func fields() throws {
        let version = try Program.run("agctl", ["--version"], folder: folder).text.trimmingCharacters(
            in: .whitespacesAndNewlines)
        #expect(try ask("--field", package, "Version").trimmingCharacters(in: .whitespacesAndNewlines) == version)
        let fields = try ask("--field", package)
        #expect(
            fields.contains("Maintainer: A Builder <builder@example.org>\n") && fields.contains("Depends: libc6 (>= "),
            "\(fields)")
        #expect(
            !fields.contains("@version@") && !fields.contains("@depends@") && !fields.contains("@size@"), "\(fields)")
    }

    @Test(
        "the programs, the clients and the debug symbols have packages of their own, each with copyright and changelog")
    func split() throws {
        let names = packages.compactMap { $0.split(separator: "/").last?.split(separator: "_").first.map(String.init) }
        #expect(
            names == [
                "agd-bridge", "agd-dashboard", "agd-dbgsym", "agd-host-feeder", "agd-link", "agd", "libjs-agd",
                "python3-agd",
            ])
        for (name, file) in zip(names, packages) {
            let contents = try ask("--contents", file)
            for part in ["copyright", "changelog.gz"] {
                #expect(contents.contains(" ./usr/share/doc/\(name)/\(part)\n"), "\(name)")
            }
            #expect(try ask("--field", file, "Description").split(separator: "\n").count > 1)
        }
        #expect(try ask("--contents", packages[1]).contains(" ./usr/bin/agd-gateway\n"))
        #expect(try ask("--contents", packages[3]).contains(" ./usr/lib/systemd/system/agd-host-feeder.service\n"))
        #expect(try ask("--contents", packages[4]).contains(" ./usr/share/man/man5/agd-link.conf.5.gz\n"))
        #expect(try ask("--contents", packages[6]).contains(" ./usr/share/javascript/agd/client.js\n"))
        #expect(try ask("--contents", packages[7]).contains(" ./usr/lib/python3/dist-packages/agd/__init__.py\n"))
        #expect(try !ask("--contents", package).contains("gateway\n"))
    }

    @Test(
        "Debian's Node reads the installed client as modules",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/node"), "nodejs is not installed"))
    func node() throws {
        let root = folder.file("client")
        _ = try ask("--raw-extract", packages[6], root)
        for name in ["node.js", "gateway.js"] {
            let told = try Program.run(
                "/usr/bin/node",
                [
                    "--input-type=module", "-e",
                    "import { connect } from '\(root)/usr/share/javascript/agd/\(name)'; console.log(typeof connect)",
                ], folder: folder)
            // A newer Node guesses, and says so.
            #expect(told.code == 0 && told.text == "function\n", "\(told.text)")
        }
    }

    @Test("man pages have every verb of agctl and every setting")
    func pages() throws {
        let root = try unpack()
        func page(_ name: String) throws -> String {
            try Program.run("/bin/zcat", ["\(root)/usr/share/man/\(name).gz"], folder: folder).text
        }
        let verbs = try page("man1/agctl.1")
        for verb in ["get", "watch", "edit", "doctor", "backup"] { #expect(verbs.contains(".SS \(verb)\n")) }
        let settings = try page("man5/agd.conf.5")
        for match in try Project.text("config/agd.conf").matches(of: /(?m)^#([a-z-]+) =/) {
            #expect(settings.contains("\\fB\(match.1.replacingOccurrences(of: "-", with: "\\-")) ="), "\(match.1)")
        }
        #expect(try page("man8/agd.8").contains("\\-\\-backup"))
    }

    @Test("links between the installed pages lead to installed files") func links() throws {
        let root = folder.file("all")
        for package in packages { _ = try ask("--extract", package, root) }
        let documentation = root + "/usr/share/doc"
        let pages = try FileManager.default.subpathsOfDirectory(atPath: documentation).filter { $0.hasSuffix(".md") }
        #expect(pages.count > 15 && pages.contains("agd/README.md") && pages.contains("libjs-agd/README.md"))
        var count = 0
        for page in pages {
            let text = try String(contentsOfFile: documentation + "/" + page, encoding: .utf8)
            let folder = URL(fileURLWithPath: documentation + "/" + page).deletingLastPathComponent()
            for match in text.matches(of: /\]\((\.*[A-Za-z][^):# ]*)[)#]/) {
                count += 1
                let file = folder.appendingPathComponent(String(match.1)).standardized.path
                #expect(FileManager.default.fileExists(atPath: file), "\(page): \(match.1)")
            }
        }
        #expect(count > 50)
    }

    @Test("packages name the project's page, if there is one") func homepage() throws {
        let folder = try Folder()
        let made = try Self.make(of: { _ in "/bin/true" }, in: folder, ["AGD_HOMEPAGE": "https://example.org/agd"])
        #expect(made.code == 0, "\(made.text)")
        for file in try FileManager.default.contentsOfDirectory(atPath: folder.file("packages")) {
            let page = try ask("--field", folder.file("packages/" + file), "Homepage")
            #expect(page == "https://example.org/agd\n", "\(file)")
        }
    }

    @Test(
        "lintian finds no error in the packages",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/lintian"), "lintian is not installed"))
    func lintian() throws {
        // The maintainer of the test has no real address, and its programs have no symbols.
        let told = try Program.run(
            "/usr/bin/lintian",
            [
                "--allow-root", "--fail-on", "error", "--suppress-tags",
                "bogus-mail-host,bogus-mail-host-in-debian-changelog,stripped-library",
            ]
                + packages, folder: folder, seconds: 5 * Deadline.patience)
        #expect(told.code == 0, "\(told.text)")
    }

    @Test("its units name programs and files that are in it") func units() throws {
        let root = try unpack()
        let unit = try String(contentsOfFile: root + "/usr/lib/systemd/system/agd.service", encoding: .utf8)
        let named = Set(unit.matches(of: /\/(usr|etc)\/[a-z.\/-]*agd[A-Za-z.\/-]*/).map { String($0.output.0) })
        #expect(named.contains("/usr/bin/agd") && named.contains("/etc/agd/agd.conf"))
        for path in named { #expect(FileManager.default.fileExists(atPath: root + path), "\(path)") }
    }

    @Test("the user of each unit exists while the unit does not run, so that access lines can name it")
    func users() throws {
        let users = try Project.text("systemd/agd.sysusers")
        for unit in ["agd", "agd-dashboard", "agd-host-feeder", "agd-link", "agd-bridge"] {
            let text = try Project.text("systemd/\(unit).service")
            #expect(text.contains("\nUser=\(unit)\n") && !text.contains("\nDynamicUser="), "\(unit)")
            #expect(users.contains("\nu \(unit) - "), "\(unit)")
        }
    }

    @Test("exactly the files that an administrator may change are configuration files") func configuration()
        throws
    {
        let root = try unpack()
        let listed = try String(contentsOfFile: root + "/DEBIAN/conffiles", encoding: .utf8).split(separator: "\n").map(
            String.init)
        let present = try FileManager.default.subpathsOfDirectory(atPath: root + "/etc").filter { $0.contains(".") }.map
        { "/etc/" + $0 }
        #expect(listed == present.sorted() && listed.contains("/etc/agd/agd.conf"))
    }

    @Test("its files are root's, for all to read") func modes() throws {
        let lines = try ask("--contents", package).split(separator: "\n")
        #expect(lines.count > 50)
        for line in lines {
            let mode = line.prefix(10)
            #expect(line.dropFirst(11).hasPrefix("root/root "), "\(line)")
            #expect(["drwxr-xr-x", "-rwxr-xr-x", "-rw-r--r--"].contains(mode), "\(line)")
        }
    }

    @Test("a configuration that may have a password is not for all to read", arguments: ["link", "bridge"])
    func privateConfiguration(_ name: String) throws {
        let file = try #require(packages.first { $0.contains("/agd-\(name)_") })
        let line = try ask("--contents", file).split(separator: "\n").first { $0.hasSuffix(" ./etc/agd/\(name).conf") }
        #expect(line?.hasPrefix("-rw-r----- root/root ") == true, "\(line ?? "")")
        let root = folder.file(name)
        _ = try ask("--raw-extract", file, root)
        let script = root + "/DEBIAN/postinst"
        #expect(try String(contentsOfFile: script, encoding: .utf8).contains("chgrp agd-\(name) /etc/agd/\(name).conf"))
        let run = try Program.run("/bin/sh", ["-u", script, "abort-upgrade"], folder: folder)
        #expect(run.code == 0 && run.text.isEmpty, "\(run.text)")
    }

    @Test("its scripts are sound, and say nothing and do nothing where no step of theirs is asked for") func scripts()
        throws
    {
        let root = try unpack()
        for name in ["postinst", "prerm", "postrm"] {
            let run = try Program.run("/bin/sh", ["-u", "\(root)/DEBIAN/\(name)", "abort-upgrade"], folder: folder)
            #expect(run.code == 0 && run.text.isEmpty, "\(name): \(run.text)")
        }
    }

    @Test("programs that lack the Swift runtime are refused, and nothing is made") func lackingRuntime() throws {
        let folder = try Folder()
        let made = try Self.make(of: Program.built, in: folder)
        #expect(made.code == 65 && made.text.contains("make release"), "\(made.text)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("packages")).isEmpty)
    }
}

import AttributeValues
import Glibc

/// The files of the dashboard, read once at the start.
package struct Pages {
    struct File {
        var type: String
        var body: [UInt8]
        var tag: String
        /// nil for a short file, and for a type that is already compressed.
        var packed: [UInt8]?

        init(type: String, body: [UInt8]) {
            self.type = type
            self.body = body
            tag = Answer.tag(of: body)
            packed = Answer(status: .ok, type: type, body: body).isPackable ? Gzip.whole(body, .small) : nil
        }
    }

    private static let types = [
        "html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8",
        "svg": "image/svg+xml", "png": "image/png", "json": "application/json", "woff2": "font/woff2",
    ]
    private static let longestFile = 4 << 20
    private static let mostFiles = 500

    private var files: [String: File] = [:]

    var isEmpty: Bool { files.isEmpty }

    package init() {}

    /// - Parameter folders: later folders add to earlier ones. Only files of the kinds that web pages use are read.
    package init(folders: [String]) {
        for folder in folders { read(folder, as: "/") }
    }

    /// The file of a path. `/inspect` is the page `inspect.html`.
    subscript(_ path: String) -> File? {
        files[path.hasSuffix("/") ? path + "index.html" : path] ?? files[path + ".html"]
    }

    private mutating func read(_ folder: String, as prefix: String) {
        guard let directory = opendir(folder) else { return }
        defer { closedir(directory) }
        while let entry = readdir(directory), files.count < Pages.mostFiles {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasPrefix(".") || name == "test" { continue }
            let path = folder + "/" + name
            var status = stat()
            guard stat(path, &status) == 0 else { continue }
            if status.st_mode & S_IFMT == S_IFDIR {
                read(path, as: prefix + name + "/")
            } else if let type = Pages.types[String(name.split(separator: ".").last ?? "")],
                status.st_size <= Pages.longestFile, let body = try? TextFile.bytes(of: path)
            {
                files[prefix + name] = File(type: type, body: body)
            }
        }
    }
}

import CommandArguments

/// It is in the program of the tests, because it links more than agctl does.
struct LspCommand: Verb {
    static let help = VerbHelp(
        name: "lsp", summary: "Serve an editor: faults while typing, completion, and present values.",
        discussion: """
            An editor starts it and talks to it over standard input and output, with the language server protocol. It \
            shows the faults of scenes and of their tests, tells the meaning of keys and the types of attributes, \
            completes keys, names and paths, and finds declarations and uses. If a daemon runs, it tells the present \
            value of an attribute. Documentation/Editors.md has the settings for several editors.

            Examples:
              agctl lsp
            """)

    func run() throws { throw Child.become("agctl-scene", ["--lsp"]) }
}

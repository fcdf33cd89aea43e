import ArgumentParser

/// The argument parser's completion scripts, corrected: they do not know the short names of verbs, and add a space
/// after each word.
enum CompletionScript {
    static func completing(_ script: String) -> String { joiningWords(of: addingShortNames(to: script)) }

    /// The script without a space after words that continue: `name=` of an argument, and a node that ends with a slash.
    /// fish recognises these endings by itself.
    private static func joiningWords(of script: String) -> String {
        script.replacing(
            "complete -o filenames -F _agctl agctl",
            with: """
                _agctl_joined() {
                    _agctl "$@"
                    if [[ "${COMPREPLY[*]: -1}" == *[=/] ]]; then compopt +o filenames -o nospace; fi
                }
                complete -o filenames -F _agctl_joined agctl
                """
        ).replacing(
            "    _describe -V '' non_empty_completions --",
            with: """
                    local -a suffix
                    if [[ "${non_empty_completions[-1]}" == *[=/] ]]; then suffix=(-S ''); fi
                    _describe -V '' non_empty_completions "${suffix[@]}" --
                """)
    }

    /// The script with a translation of short names to verbs before it uses the verb.
    static func addingShortNames(to script: String) -> String {
        let names = Agctl.verbs.flatMap { verb in
            verb.configuration.aliases.map { (short: $0, verb: verb.configuration.commandName ?? "") }
        }
        func cases(_ variable: String) -> String {
            "case \"${\(variable)}\" in "
                + names.map { "\($0.short)) \(variable)=\($0.verb) ;; " }.joined() + "esac\n    "
        }
        let bash = "local -r subcommand=\"${unparsed_words[0]}\"\n"
        let zsh = "case \"${words[1]}\" in\n"
        let fish = "set -l unparsed_tokens (__agctl_tokens -pc)\n"
        if script.contains(bash) {
            return script.replacing(
                bash, with: "local subcommand=\"${unparsed_words[0]}\"\n    " + cases("subcommand") + "\n",
                maxReplacements: 1)
        }
        if script.contains(fish) {
            let lines = names.map { "    case '\($0.short)'\n        set unparsed_tokens[2] '\($0.verb)'\n" }
            return script.replacing(
                fish, with: fish + "    switch \"$unparsed_tokens[2]\"\n" + lines.joined() + "    end\n",
                maxReplacements: 1)
        }
        return script.replacing(zsh, with: cases("words[1]") + "    " + zsh, maxReplacements: 1)
    }
}

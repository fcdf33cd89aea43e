/// The words that a shell offers in place of an incomplete one.
package enum Offer: Sendable {
    case nothing, files, folders
    /// Made from the words before, and the beginning of this one. They must begin with it: bash shows every word that
    /// it gets.
    case words(@Sendable (_ words: [String], _ prefix: String) -> [String])

    /// An offer with its meanings; `:files` and `:folders` stand for names of files.
    package typealias Line = (word: String, meaning: String)

    /// The lines that scripts read: a word, a tab and its meaning.
    /// - Parameter words: those behind the program's name; the last one is incomplete.
    package static func text(for words: [String], of program: any ProgramWithVerbs.Type) -> String {
        lines(for: words, of: program).map { $0.meaning.isEmpty ? "\($0.word)\n" : "\($0.word)\t\($0.meaning)\n" }
            .joined()
    }

    package static func lines(for words: [String], of program: any ProgramWithVerbs.Type) -> [Line] {
        guard let prefix = words.last else { return [] }
        let before = Array(words.dropLast())
        let common = program.init().slots
        guard let position = ArgumentReader.firstOperand(in: before, common), before[position] != "help" else {
            if let option = awaiting(before, common) { return option.completion.lines(before, prefix) }
            if prefix.hasPrefix("-") { return names(of: common, prefix) }
            return program.verbs.map { ($0.help.name, $0.help.summary) }.filter { $0.0.hasPrefix(prefix) }
        }
        guard let verb = program.verbs.first(where: { $0.isCalled(before[position]) }) else { return [] }
        var slots = verb.init().slots
        if let option = awaiting(before, slots) { return option.completion.lines(before, prefix) }
        let (name, value) = ArgumentReader.parts(of: prefix)
        if let value, let option = slots.first(where: { $0.names.contains(name) }) {
            return option.completion.lines(before, value).map { (name + "=" + $0.word, $0.meaning) }
        }
        if before.contains("--") { return Offer.files.lines(before, prefix) }
        if prefix.hasPrefix("-"), ArgumentReader.isOption(prefix) || prefix == "-" { return names(of: slots, prefix) }
        // The operands that are already there.
        var given = Array(before[..<position] + before[(position + 1)...])
        while let operand = ArgumentReader.firstOperand(in: given, slots) {
            given.removeSubrange(...operand)
            if let taken = slots.firstIndex(where: { $0.form == .operand }), !slots[taken].isRepeated {
                slots.remove(at: taken)
            }
        }
        return slots.first { $0.form == .operand }?.completion.lines(before, prefix) ?? []
    }

    /// The option whose value comes next.
    private static func awaiting(_ words: [String], _ slots: [ArgumentSlot]) -> ArgumentSlot? {
        words.last.flatMap { last in slots.first { $0.form == .option && $0.names.contains(last) } }
    }

    private static func names(of slots: [ArgumentSlot], _ prefix: String) -> [Line] {
        let shown = slots.flatMap(\.shown) + HelpText.standard
        let names = shown.flatMap { shown in
            shown.spelling.split(separator: ", ").map { (String($0), shown.meaning) }
        }
        return names.filter { $0.0.hasPrefix("--") && $0.0.hasPrefix(prefix) }
    }

    private func lines(_ words: [String], _ prefix: String) -> [Line] {
        switch self {
        case .nothing: []
        case .files: [(":files", "")]
        case .folders: [(":folders", "")]
        case .words(let make): make(words, prefix).map { ($0, "") }
        }
    }

    // MARK: Shells

    /// A script that makes a shell ask `PROGRAM ---complete`; nil for an unknown shell.
    ///
    /// No space follows a word that continues: `name=` of an argument, and a node that ends with a slash. fish
    /// recognises these endings by itself.
    package static func script(for shell: String, of program: String) -> String? {
        let script: String? =
            switch shell {
            case "bash":
                #"""
                _PROGRAM() {
                    local line=${COMP_LINE:0:COMP_POINT} IFS=$' \t'
                    local -a words offered
                    read -ra words <<<"$line"
                    [[ $line == *[[:blank:]] ]] && words+=("")
                    # bash has split words at = and :, and replaces the last part alone.
                    local lead=${words[*]: -1}
                    lead=${lead%"$2"}
                    mapfile -t offered < <(PROGRAM ---complete "${words[@]:1}" 2>/dev/null)
                    offered=("${offered[@]%%$'\t'*}")
                    case ${offered[0]} in
                        :files) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$2") ;;
                        :folders) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "$2") ;;
                        *)
                            COMPREPLY=("${offered[@]#"$lead"}")
                            [[ ${COMPREPLY[*]: -1} == *[=/] ]] && compopt -o nospace
                            ;;
                    esac
                }
                complete -F _PROGRAM PROGRAM

                """#
            case "zsh":
                #"""
                #compdef PROGRAM
                _PROGRAM() {
                    local -a offered words_ meanings
                    local line
                    offered=("${(@f)$(PROGRAM ---complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
                    case ${offered[1]} in
                        :files) _files ;;
                        :folders) _files -/ ;;
                        "") return 1 ;;
                        *)
                            for line in $offered; do
                                words_+=("${line%%$'\t'*}")
                                meanings+=("${line/$'\t'/  -- }")
                            done
                            if [[ ${words_[-1]} == *[=/] ]]; then
                                compadd -S '' -d meanings -- $words_
                            else
                                compadd -l -d meanings -- $words_
                            fi
                            ;;
                    esac
                }
                if [[ ${funcstack[1]} == _PROGRAM ]]; then _PROGRAM "$@"; else compdef _PROGRAM PROGRAM; fi

                """#
            case "fish":
                #"""
                function __PROGRAM_complete
                    set -l offered (PROGRAM ---complete (commandline -opc)[2..] (commandline -ct) 2>/dev/null)
                    switch "$offered[1]"
                        case ':files*'
                            __fish_complete_path (commandline -ct)
                        case ':folders*'
                            __fish_complete_directories (commandline -ct)
                        case '*'
                            printf '%s\n' $offered
                    end
                end
                complete -c PROGRAM -f -a '(__PROGRAM_complete)'

                """#
            default: nil
            }
        return script?.replacing("PROGRAM", with: program)
    }
}

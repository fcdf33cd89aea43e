import StateStore

extension Daemon {
    /// Writes the store of a configuration into one file. A daemon may run meanwhile.
    /// - Returns: a description of the file for people.
    public static func backUp(_ configuration: Configuration, to file: String) throws(StartupError) -> String {
        guard let directory = configuration.stateDirectory else {
            throw StartupError(.usage, "there is no store to back up; name its folder with --state-directory")
        }
        do throws(StoreError) {
            let backup = try StateStore.backUp(directory: directory, to: file)
            let rows = backup.rows == 1 ? "1 row" : "\(backup.rows) rows"
            return "\(file): \(rows) up to revision \(backup.revision), epoch \(backup.epoch)"
        } catch { throw StartupError(error) }
    }
}

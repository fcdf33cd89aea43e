import AGScenes

extension Modifiable {
    func lineLimit(_ number: Int) -> Self { environment(\.lineLimit, number) }
}

/// Caches animations by their text: requests repeat the same few, and reading one costs more than committing the change
/// that it animates.
public struct AnimationCache {
    /// Maximum number of texts. When it is exceeded, the cache is cleared.
    public static let capacity = 1024
    /// Longer texts are not cached.
    public static let longestText = 256

    private var known: [String: Animation] = [:]

    public init() {}

    public var count: Int { known.count }

    public mutating func lookUp(_ text: String) throws(AnimationError) -> Animation {
        if let animation = known[text] { return animation }
        let animation = try Animation(text)
        if text.utf8.count <= AnimationCache.longestText {
            if known.count >= AnimationCache.capacity { known.removeAll() }
            known[text] = animation
        }
        return animation
    }
}

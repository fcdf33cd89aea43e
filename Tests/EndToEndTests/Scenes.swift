/// Small scenes that several tests use.
enum Scenes {
    /// A player with a button that it shares its state with.
    static let player = """
        agd: 1
        components:
          PlayButton:
            binding: [isPlaying]
            computed: { symbol: 'isPlaying ? "pause.circle" : "play.circle"', scale: "isPlaying ? 1.0 : 1.5" }
        nodes:
          - id: player
            state:
              isPlaying: false
              volume: 0.5
              queue: []
              episode: { title: Some Episode, isFavorite: false }
            children:
              - { id: playButton, component: PlayButton, binding: { isPlaying: $isPlaying } }
              - { id: favorite, kind: view, binding: { isOn: $episode.isFavorite } }
        """

    /// One number and its double.
    static let counter = """
        agd: 1
        nodes:
          - id: counter
            state: { value: 0, text: "" }
            computed: { twice: value * 2 }
        """
}

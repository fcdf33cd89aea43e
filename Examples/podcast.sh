#!/usr/bin/env bash
# A podcast player, driven from a shell: what SwiftUI's "Managing user interface state" shows, step by step on a running agd.
#
#     agd --socket /tmp/agd.sock &                    (or make run, or the service)
#     AGD_SOCKET=/tmp/agd.sock Examples/podcast.sh
#
# Watch it from a second terminal:  agctl watch '/podcaster/**' --frames 30
set -euo pipefail

scene=$(dirname "$0")/podcast.yaml

# Says what comes, shows the command, runs it.
step() { printf '\n# %s\n' "$*"; }
run() {
    printf '$ %s\n' "$*"
    "$@"
}
# Runs a command whose output must be what the scene says it is.
expect() {
    local wanted=$1 found
    shift
    printf '$ %s\n' "$*"
    found=$("$@")
    printf '%s\n' "$found"
    [[ $found == "$wanted" ]] || { printf 'podcast.sh: expected %s\n' "$wanted" >&2; exit 1; }
}

step "Put the scene into the graph. What an earlier run left there goes first, with all its states."
agctl remove /podcaster 2>/dev/null || true
run agctl apply -f "$scene"

step "State is the single source of truth: the player owns isPlaying, and the button shows what follows from it."
expect false agctl get /podcaster/player.isPlaying
expect play.circle agctl get /podcaster/player/playButton.symbol

step "The button has a binding to it, no copy. Written through the button, it is the player's state that changes."
run agctl toggle /podcaster/player/playButton.isPlaying
expect true agctl get /podcaster/player.isPlaying
expect pause.circle agctl get /podcaster/player/playButton.symbol

step "A binding can be made from a binding, to any depth: all of them are the one state."
run agctl set /podcaster/player.isPlaying false
expect false agctl get /podcaster/player/playButton.isPlaying

step "A binding can reach into a value: favorite.isOn is episode.isFavorite, and the rest of the episode stays."
run agctl set /podcaster/favorite.isOn true
expect true agctl get /podcaster.episode.isFavorite
expect "Some Episode" agctl get /podcaster.episode.title

step "A let is read-only. The player was given its episode; it cannot change it, and the daemon says so."
printf '$ agctl set /podcaster/player.episode.title "Another Episode"\n'
if agctl set /podcaster/player.episode.title "Another Episode"; then
    printf 'podcast.sh: a let was written\n' >&2
    exit 1
fi

step "Its owner can, and everybody who shows it follows."
run agctl set /podcaster.episode.title "Another Episode"
expect "Another Episode" agctl get /podcaster/player.episode.title

step "With an animation the value changes at once, and what is displayed moves. The symbol, a text, jumps."
run agctl toggle /podcaster/player.isPlaying --animation 'easeInOut(duration: 1)' --label "tap on play"
expect 1.0 agctl get /podcaster/player/playButton.scale
expect pause.circle agctl get /podcaster/player/playButton.symbol
run agctl get /podcaster/player/playButton.scale --presentation

step "Several changes can be one transaction: all or none, and nobody sees half of it."
run agctl transact \
    'test /podcaster/player.isPlaying true' \
    'toggle /podcaster/player.isPlaying' \
    'set /podcaster.episode.title "Some Episode"'
expect false agctl get /podcaster/player.isPlaying

step "Who changed that, and why? The way from the write to the value is kept."
run agctl explain /podcaster/player/playButton.symbol

#!/usr/bin/env bash
# A podcast player, driven from a shell: the steps of SwiftUI's "Managing user interface state" on a running agd.
#
#     agd --socket /tmp/agd.sock &                    (or make run, or the service)
#     AGD_SOCKET=/tmp/agd.sock Examples/podcast.sh
#
# Watch all of it from a second terminal:  agctl watch '/podcaster/**' --frames 30
set -euo pipefail

scene=$(dirname "$0")/podcast.yaml

# Explains the next step.
step() { printf '\n# %s\n' "$*"; }
# Prints a command so that it can be pasted into a shell.
show() {
    local word line='$'
    for word; do
        if [[ $word =~ ^[A-Za-z0-9_./:=@%+-]+$ ]]; then line+=" $word"; else line+=" '${word//\'/\'\\\'\'}'"; fi
    done
    printf '%s\n' "$line"
}
# Prints a command and runs it.
run() {
    show "$@"
    "$@"
}
# Runs a command whose output must equal the first argument.
expect() {
    local wanted=$1 found
    shift
    show "$@"
    found=$("$@")
    printf '%s\n' "$found"
    [[ $found == "$wanted" ]] || { printf 'podcast.sh: expected %s\n' "$wanted" >&2; exit 1; }
}

step "Apply the scene. First remove the nodes of an earlier run, with all their states."
agctl remove /podcaster 2>/dev/null || true
run agctl apply -f "$scene"

step "State is the single source of truth: the player owns isPlaying, and the button shows a value that depends on it."
expect false agctl get /podcaster/player.isPlaying
expect play.circle agctl get /podcaster/player/playButton.symbol

step "The button has a binding to the state, not a copy. A write to the binding changes the player's state."
run agctl toggle /podcaster/player/playButton.isPlaying
expect true agctl get /podcaster/player.isPlaying
expect pause.circle agctl get /podcaster/player/playButton.symbol

step "A binding may have a binding as its target, to any depth. All of them share one state."
run agctl set /podcaster/player.isPlaying false
expect false agctl get /podcaster/player/playButton.isPlaying

step "A binding may refer to a part of a value: favorite.isOn is episode.isFavorite. The rest of the episode does not change."
run agctl set /podcaster/favorite.isOn true
expect true agctl get /podcaster.episode.isFavorite
expect "Some Episode" agctl get /podcaster.episode.title

step "A let is read-only. The player gets its episode as a let, so the daemon refuses this write."
show agctl set /podcaster/player.episode.title "Another Episode"
if agctl set /podcaster/player.episode.title "Another Episode"; then
    printf 'podcast.sh: a let was written\n' >&2
    exit 1
fi

step "A write to the state of its owner succeeds, and every view with the episode changes."
run agctl set /podcaster.episode.title "Another Episode"
expect "Another Episode" agctl get /podcaster/player.episode.title

step "With an animation, the value changes at once and the displayed value moves: in a watch, ~ marks a displayed value."
# The watch ends when the motion has ended.
motion=(agctl watch /podcaster/player/playButton.scale --frames 10 --settled)
printf '%s &\n' "$(show "${motion[@]}")"
exec {lines}< <("${motion[@]}")
# The first line says that the watch has begun. A value that nobody watches does not move.
IFS= read -r first <&"$lines"
printf '%s\n' "$first"
run agctl toggle /podcaster/player.isPlaying --animation 'easeInOut(duration: 1)' --label "tap on play"
cat <&"$lines"
expect 1.0 agctl get /podcaster/player/playButton.scale

step "The symbol is a text, so it jumps."
expect pause.circle agctl get /podcaster/player/playButton.symbol

step "Several changes can be one transaction: the daemon makes all or none, and no client sees only a part."
run agctl transact \
    'test /podcaster/player.isPlaying true' \
    'toggle /podcaster/player.isPlaying' \
    'set /podcaster.episode.title "Some Episode"'
expect false agctl get /podcaster/player.isPlaying

step "explain shows who changed a value, and the path from the write to the value."
run agctl explain /podcaster/player/playButton.symbol

#!/usr/bin/env bash
# A module for waybar: an object for each change of the status. In waybar's configuration:
#
#     "custom/agd": { "exec": "/usr/share/doc/agd/Examples/recipes/waybar.sh", "return-type": "json" }
set -euo pipefail

# waybar reads texts as markup, which @html escapes.
agctl watch "${1:-/host.status}" --json |
    jq -c --unbuffered '.params.changes[]? | (if .error then "error" else .value | tostring end) as $text
        | {text: $text | @html, tooltip: (.error.message // .path | @html), class: $text}'

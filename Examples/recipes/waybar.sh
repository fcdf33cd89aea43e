#!/usr/bin/env bash
# A module for waybar: an object for each change of the status. In waybar's configuration:
#
#     "custom/agd": { "exec": "/usr/share/doc/agd/Examples/recipes/waybar.sh", "return-type": "json" }
set -euo pipefail

agctl watch "${1:-/host.status}" | while IFS=$'\t' read -r path value; do
    jq -cn --argjson value "$value" --arg path "$path" '{text: ($value | tostring), tooltip: $path, class: ($value | tostring)}'
done

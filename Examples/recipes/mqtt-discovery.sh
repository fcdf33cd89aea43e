#!/usr/bin/env bash
# Makes an attribute known to Home Assistant: PATH NAME [UNIT [MIN MAX]].
#
#     Examples/recipes/mqtt-discovery.sh /host/cpu.percent 'Processor' %
#     Examples/recipes/mqtt-discovery.sh /lamp.isOn 'Lamp'
#     Examples/recipes/mqtt-discovery.sh /lamp.level 'Brightness' % 0 100
#
# A bool that can be written becomes a switch, another bool a binary sensor. A number with MIN and MAX becomes a number to
# set. Everything else is a sensor. mqtt-publish.sh sends the values, and mqtt-receive.sh writes what Home Assistant sets.
#
# MQTT_OPTIONS: options of mosquitto_pub.
set -euo pipefail

path=$1 name=$2 unit=${3:-} least=${4:-null} greatest=${5:-null}
read -ra options <<<"${MQTT_OPTIONS:-}"
id=agd_$(tr -c '[:alnum:]\n' _ <<<"${path#/}")
definition=$(agctl describe "$path" --json)
component=$(jq -r --argjson least "$least" '(.kind == "state" or .kind == "binding") as $canWrite
    | if .type == "bool" then (if $canWrite then "switch" else "binary_sensor" end)
      elif $least != null then "number" else "sensor" end' <<<"$definition")
message=$(jq -cn --arg name "$name" --arg id "$id" --arg path "$path" --arg unit "$unit" --arg component "$component" \
    --argjson least "$least" --argjson greatest "$greatest" '
    ($path | gsub("%"; "%25") | gsub("#"; "%23") | gsub("[+]"; "%2B")) as $topic
    | {name: $name, unique_id: $id, state_topic: "agd\($topic)"}
    + if $component == "sensor" then {value_template: "{{ value_json }}"} else {} end
    + if $component | IN("switch", "binary_sensor") then {payload_on: "true", payload_off: "false"} else {} end
    + if $component | IN("switch", "number") then {command_topic: "agd/set\($topic)"} else {} end
    + if $component == "number" then {min: $least, max: $greatest} else {} end
    + if $unit == "" then {} else {unit_of_measurement: $unit} end
    + {device: {identifiers: ["agd"], name: "agd"}}')
mosquitto_pub "${options[@]}" -r -t "homeassistant/$component/$id/config" -m "$message"

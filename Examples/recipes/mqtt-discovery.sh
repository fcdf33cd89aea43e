#!/usr/bin/env bash
# Makes a value known to Home Assistant as a sensor: PATH NAME [UNIT].
#
#     Examples/recipes/mqtt-discovery.sh /host/cpu.percent 'Processor' %
#
# MQTT_OPTIONS: options of mosquitto_pub.
set -euo pipefail

path=$1 name=$2 unit=${3:-}
read -ra options <<<"${MQTT_OPTIONS:-}"
id=agd_$(tr -c '[:alnum:]\n' _ <<<"${path#/}")
message=$(jq -cn --arg name "$name" --arg id "$id" --arg topic "agd$path" --arg unit "$unit" \
    '{name: $name, unique_id: $id, state_topic: $topic} + if $unit == "" then {} else {unit_of_measurement: $unit} end')
mosquitto_pub "${options[@]}" -r -t "homeassistant/sensor/$id/config" -m "$message"

#!/usr/bin/env bash
# Writes the messages of agd/set/... to the graph: agd/set/lamp.isOn sets /lamp.isOn. A message that agd refuses is
# reported, and the next one is read.
#
#     Examples/recipes/mqtt-receive.sh
#
# MQTT_OPTIONS: options of mosquitto_sub.
set -euo pipefail

read -ra options <<<"${MQTT_OPTIONS:-}"
mosquitto_sub "${options[@]}" -t 'agd/set/#' -F '%t %p' | sed -u 's|^agd/set/|set /|' | agctl feed --keep-going --label mqtt

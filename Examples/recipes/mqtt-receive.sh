#!/usr/bin/env bash
# Writes the messages of agd/set/... to the graph: agd/set/lamp.isOn sets /lamp.isOn. In topics, %23 is #, %2B is + and
# %25 is %. A message is JSON if that fits the type of the attribute, otherwise a text. A message that agd refuses is
# reported, and the next one is read.
#
#     Examples/recipes/mqtt-receive.sh
#
# Topics and messages are texts of others. They travel as JSON, so nothing in them becomes a command.
#
# MQTT_OPTIONS: options of mosquitto_sub.
set -euo pipefail

read -ra options <<<"${MQTT_OPTIONS:-}"
mosquitto_sub "${options[@]}" -t 'agd/set/#' -F %j |
    jq -cR --unbuffered 'fromjson | {
        op: "set",
        path: (.topic[7:] | gsub("%23"; "#") | gsub("%2B"; "+") | gsub("%25"; "%")),
        value: .payload
    }' |
    agctl feed --json --by-type --keep-going --label mqtt

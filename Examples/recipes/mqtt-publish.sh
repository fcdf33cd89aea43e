#!/usr/bin/env bash
# Publishes values and their changes to MQTT: /host/cpu.percent becomes the retained topic agd/host/cpu.percent.
#
#     Examples/recipes/mqtt-publish.sh '/host/**'
#
# MQTT_OPTIONS: options of mosquitto_pub, such as "-h broker -u name -P password".
set -euo pipefail

read -ra options <<<"${MQTT_OPTIONS:-}"
agctl watch "$@" | while IFS=$'\t' read -r path value; do
    # An attribute without a value has an error. Its topic becomes empty.
    [[ $value == error:* ]] && value=
    mosquitto_pub "${options[@]}" -r -t "agd$path" -m "$value"
done

#!/usr/bin/env bash
# Publishes values and their changes to MQTT: /host/cpu.percent becomes the retained topic agd/host/cpu.percent. MQTT
# refuses some characters in topics: # becomes %23, + becomes %2B, and % becomes %25.
#
#     Examples/recipes/mqtt-publish.sh '/host/**'
#
# MQTT_OPTIONS: options of mosquitto_pub, such as "-h broker -u name -P password".
set -euo pipefail

read -ra options <<<"${MQTT_OPTIONS:-}"
agctl watch "$@" | while IFS=$'\t' read -r path value; do
    topic=${path//'%'/%25}
    topic=${topic//'#'/%23}
    topic=${topic//'+'/%2B}
    if [[ $value == error:* ]]; then
        # An attribute without a value has an error. Its topic becomes empty.
        mosquitto_pub "${options[@]}" -r -t "agd$topic" -n
    else
        # The length of an argument is limited, that of the standard input is not.
        printf %s "$value" | mosquitto_pub "${options[@]}" -r -t "agd$topic" -s
    fi
done

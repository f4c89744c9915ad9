#!/bin/sh
# Arguments: input, output.
exec mlr --icsv --ocsv put '$time_hour = sub($time_hour, "Z$", "")' then sort -f dest -nr arr_delay "$1" > "$2"

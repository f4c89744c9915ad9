#!/bin/sh
# Arguments: input, output.
exec mlr --icsv --ocsv --records-per-batch 500 filter '$distance >= 500 && is_present($air_time) && is_not_empty($air_time) && $air_time >= 60' \
  then put '$time_hour = sub($time_hour, "Z$", "");
            $reach = $distance < 1000 ? "short" : ($distance < 2000 ? "medium" : "long");
            $speed = $distance * 60.0 / $air_time' \
  then cut -o -f month,day,dep_delay,arr_delay,carrier,flight,tailnum,origin,dest,distance,time_hour,reach,speed \
  "$1" > "$2"

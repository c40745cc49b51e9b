#!/bin/sh
# Greets whoever is named on the command line.
name=${1:-world}
greeting="Hello"
# TODO: greet several people at once
echo "$greeting, $name!"

#!/bin/sh
# Says goodbye to whoever is named on the command line.
name=${1:-world}
# TODO: know more than one language
echo "Goodbye, $name!"

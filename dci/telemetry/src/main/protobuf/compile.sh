#!/bin/sh
# compile.sh PROTOC FROM TO: compiles the messages of gnmi.proto to Java. Up-to-date files stay, so
# that javac sees no change.
set -eu
protoc=$1
from=$2
to=$3
made=$to/.made
[ -e "$made" ] && [ -z "$(find "$from" -newer "$made" -print)" ] && exit 0
chmod +x "$protoc"
rm -rf "$to"
mkdir -p "$to"
"$protoc" --proto_path="$from" --java_out="$to" "$from/gnmi.proto"
touch "$made"

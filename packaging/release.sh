#!/usr/bin/env bash
# Makes the files of a release: release.sh TAG OUTPUT
#
#   OUTPUT/heddle…     both packages, and the bill of materials (CycloneDX)
#   OUTPUT/SHA256SUMS  checksums of all these files
#   OUTPUT/NOTES.md    the release's section of the changelog
set -euo pipefail
export LC_ALL=C

root=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.." && pwd)
bom_plugin=org.cyclonedx:cyclonedx-maven-plugin:2.9.1

fail() {
  printf 'heddle: %s\n' "$*" >&2
  exit 1
}

(($# == 2)) || fail "usage: release.sh TAG OUTPUT, such as release.sh v0.1.0 out"
tag=$1
version=$(sed -n 's:.*<revision>\(.*\)</revision>.*:\1:p' "$root/pom.xml")
[[ $tag == "v$version" ]] || fail "the tag $tag isn't v$version, the version of pom.xml"
heading=$(grep -m 1 '^## ' "$root/CHANGELOG.md")
[[ $heading == "## $version ("* ]] || fail "the newest section of CHANGELOG.md is \"$heading\", not of $version"
[[ $heading != *"not released"* ]] || fail "the newest section of CHANGELOG.md has no date yet: \"$heading\""
[[ -z $(git -C "$root" status --porcelain) ]] || fail "the checkout has changes that are not committed"

mkdir -p -- "$2"
output=$(cd -- "$2" && pwd)
[[ -z $(ls -A "$output") ]] || fail "$output isn't empty"

"$root/heddle" dist "$output"
(cd "$root" && mvn -B -q "$bom_plugin:makeAggregateBom" -DoutputFormat=json -DoutputDirectory="$output" \
  -DoutputName="heddle-$version.cdx" -DincludeTestScope=false)
awk '/^## /{ if (seen++) exit; next } seen' "$root/CHANGELOG.md" >"$output/NOTES.md"
(cd "$output" && sha256sum heddle* >SHA256SUMS)
printf 'heddle: %s has\n' "$output"
ls -l "$output"

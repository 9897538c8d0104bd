#!/usr/bin/env bash
# jobs.sh FOLDER: runs each bash script that appears in FOLDER as NAME.job, at once and in parallel. NAME.out gets both
# output streams of the script, and NAME.status gets its exit status at the end. The file NAME.kill ends the script
# NAME.job, and the file "end" ends jobs.sh. Other processes must create these files atomically, by renaming. "the guest
# takes jobs" is printed once jobs.sh looks for them.
set -u
cd -- "$1"
shopt -s nullglob
declare -A process

run_job() {
  local status=0
  bash -eu "$1.job" >"$1.out" 2>&1 || status=$?
  echo "$status" >"$1.status.new"
  mv "$1.status.new" "$1.status"
}

set -m
echo "the guest takes jobs"
while [[ ! -e end ]]; do
  for job in *.job; do
    name=${job%.job}
    if [[ -z ${process[$name]:-} ]]; then
      run_job "$name" &
      process[$name]=$!
    fi
  done
  for killed in *.kill; do
    name=${killed%.kill}
    rm -f "$killed"
    [[ -z ${process[$name]:-} ]] || kill -- "-${process[$name]}" 2>/dev/null
  done
  sleep 0.05
done

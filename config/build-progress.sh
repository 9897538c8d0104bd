# shellcheck shell=bash
# Functions that show the build's progress, and the lines of its log that explain a failure. The heddle command sources
# this file.

# Reads Maven's output from standard input. Shows the current module and the number of downloaded files on standard
# error: on a terminal as one line that is updated, elsewhere as a line for each module and one for the downloads now
# and then.
show_progress() {
  local line part='' module='getting ready' files=0 printed_at=$SECONDS started=$SECONDS terminal='' status
  [[ ! -t 2 ]] || terminal=yes
  while true; do
    status=0
    IFS= read -r -t 1 line || status=$?
    part+=$line
    # If the read timed out, it may have read the first part of a line.
    if ((status == 0)); then
      line=$part
      part=''
      if [[ $line =~ ^\[INFO\]\ Building\ (.+)\ [0-9][^\ ]*\ +\[([0-9]+)/([0-9]+)\]$ ]]; then
        module="${BASH_REMATCH[2]} of ${BASH_REMATCH[3]}: ${BASH_REMATCH[1]}"
        [[ -n $terminal ]] || printf 'heddle: %s (%d s)\n' "$module" $((SECONDS - started)) >&2
        printed_at=$SECONDS
      elif [[ $line == *'Downloaded from '* ]]; then
        ((files += 1))
      fi
    elif ((status <= 128)); then
      break
    fi
    if [[ -n $terminal ]]; then
      printf '\r\033[Kheddle: %s%s, %d s' "$module" "$(downloads "$files")" $((SECONDS - started)) >&2
    elif ((SECONDS - printed_at >= 5)); then
      printf 'heddle: %s%s (%d s)\n' "$module" "$(downloads "$files")" $((SECONDS - started)) >&2
      printed_at=$SECONDS
    fi
  done
  [[ -z $terminal ]] || printf '\r\033[K' >&2
}

downloads() {
  (($1 == 0)) || printf ', %d files downloaded' "$1"
}

# Prints the lines of the log $1 that have the causes of a failed build, each once, ten at most. Paths are relative to
# the folder $2. A full disk and missing permissions come first, since they cause many different errors.
failure_causes() {
  awk -v root="$2/" '
    function cut(text, at) {
      sub(/ -> \[Help.*/, "", text)
      sub(/^(\[(ERROR|FATAL)\])? +/, "", text)
      sub(/^Failed to execute goal [^ ]* \([^)]*\) on project /, "", text)
      while ((at = index(text, root)) > 0) text = substr(text, 1, at - 1) substr(text, at + length(root))
      return length(text) > 300 ? substr(text, 1, 297) "..." : text
    }
    function keep(rank, text) {
      text = cut(text)
      if (text in known) return
      known[text]
      if (count[rank] < 10) lines[rank, ++count[rank]] = text
    }
    # CMake prints the reason in the next line.
    cmake != "" && NF > 0 {
      sub(/^ +/, "")
      sub(/:$/, "")
      keep(/No space left|Disk quota/ ? 1 : /Permission denied|Read-only/ ? 2 : 3, cmake " " $0)
      cmake = ""
      next
    }
    /^CMake Error/ { cmake = $0; next }
    /No space left on device|Disk quota exceeded/ { keep(1, $0); next }
    /Permission denied|AccessDenied|Read-only file system/ { keep(2, $0); next }
    /^\[ERROR\] .*\.java:\[[0-9]+,[0-9]+\]/ {
      sub(/:\[/, ":")
      sub(/,[0-9]+\] */, ": ")
      keep(3, $0)
      next
    }
    /: (fatal )?error: |: undefined reference to |^ld: / { keep(3, $0); next }
    / is missing: on Debian or Ubuntu, / { keep(3, $0); next }
    /Could not transfer artifact|Could not find artifact|in offline mode/ {
      sub(/.*Could not/, "could not")
      sub(/.*Cannot access/, "cannot access")
      # Maven repeats the line with its reason.
      if (length(cut($0)) > length(lines[4, 1])) {
        lines[4, 1] = cut($0)
        count[4] = 1
      }
      next
    }
    /^\[ERROR\] Failed to execute goal/ { keep(5, $0); next }
    /^\[(ERROR|FATAL)\] +[^ ]/ { keep(6, $0) }
    END {
      for (rank = 1; rank <= 6; rank++) {
        if (count[rank] == 0) continue
        for (i = 1; i <= (rank == 3 ? count[rank] : 1); i++) print lines[rank, i]
        exit
      }
    }
  ' "$1"
}

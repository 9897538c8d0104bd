#!/bin/sh
# Runs a command on a given Java with given classes: start.sh JAVA CLASSPATH COMMAND [OPTION]... Both heddle commands,
# the checkout's and the installed one, start Java by this script, and so do programs that measure a command.
java=$1
classes=$2
shift 2
name=${1-}
action="${1-} ${2-}"
set -- -cp "$classes" io.heddle.cli.heddle.HeddleCommand "$@"
# Makes the compiler inline three methods that every memory access and foreign call uses, as in the plugin
# (jvm_start.c). With that, the daemon needs 13 % less time for a large feed of routes.
case $name in
  bgp | bridge | exporter | perf)
    inline=-XX:CompileCommand=inline,jdk.internal
    set -- -XX:CompileCommand=quiet "$inline.foreign.abi.SharedUtils::checkNative" \
      "$inline.foreign.AbstractMemorySegmentImpl::equals" "$inline.misc.Unsafe::convEndian" "$@"
    ;;
esac
case $name in
  # Keeps a daemon's memory small. A small young generation is reused again and again, while a large one would occupy
  # memory once it is touched. Java returns freed memory to the host. malloc does so too, with one arena and with large
  # blocks as separate mappings.
  bgp | exporter)
    set -- -Xms8m -Xmn4m -Xmx256m -XX:MinHeapFreeRatio=5 -XX:MaxHeapFreeRatio=10 "$@"
    export MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=131072 MALLOC_TRIM_THRESHOLD_=131072
    ;;
  # Posting and polling have deeper chains of calls, which are inlined as in the plugin.
  perf) set -- -XX:C1MaxInlineLevel=20 "$@" ;;
esac
# Variables with options for all Java programs could prevent the doctor's start. So they are removed, as in the plugin,
# and the doctor is told their names.
if [ "$name" = doctor ]; then
  foreign=
  for each in JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS JDK_AOT_VM_OPTIONS; do
    eval "[ -z \"\${$each-}\" ]" || foreign=$foreign,$each
    unset "$each"
  done
  set -- "-Dheddle.options.of.others=${foreign#,}" "$@"
fi
# Most commands end before the optimising compiler (C2) saves time, so they use C1 alone. Exceptions are a WAN demo,
# which simulates a hundred gateways for a minute, and a bridge, which runs for months: with C1 alone, a packet that
# wakes it takes 4 us more.
case "$action $* " in
  *" demo "*" --wan "* | "bridge run "*) ;;
  *) set -- -XX:TieredStopAtLevel=1 "$@" ;;
esac
# In the C locale Java would read file names as ASCII and lose all other bytes, so the script selects UTF-8.
case ${LC_ALL:-${LC_CTYPE:-${LANG:-C}}} in
  C | POSIX) if [ -n "${LC_ALL-}" ]; then export LC_ALL=C.UTF-8; else export LC_CTYPE=C.UTF-8; fi ;;
esac
exec "$java" --enable-native-access=ALL-UNNAMED -XX:+UseSerialGC "$@"

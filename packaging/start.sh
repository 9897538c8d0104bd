#!/bin/sh
# Runs a command with a given Java and given classes: start.sh JAVA CLASSPATH COMMAND [OPTION]...
# Both heddle commands, the checkout's and the installed one, end here, and so do programs that measure one.
java=$1
classes=$2
shift 2
name=${1-}
action="${1-} ${2-}"
set -- -cp "$classes" io.heddle.cli.heddle.HeddleCommand "$@"
# Three methods on the way of every memory access and foreign call are put where they are called, as in the plugin
# (jvm_start.c): a large feed takes 13 % less time.
case $name in
  bgp | bridge | exporter | perf)
    inline=-XX:CompileCommand=inline,jdk.internal
    set -- -XX:CompileCommand=quiet "$inline.foreign.abi.SharedUtils::checkNative" \
      "$inline.foreign.AbstractMemorySegmentImpl::equals" "$inline.misc.Unsafe::convEndian" "$@"
    ;;
esac
case $name in
  # A daemon's memory is the host's: a small young generation is touched again and again, a large one once, what was freed
  # is given back, and malloc does likewise: one arena, large blocks as mappings of their own however many were freed
  # before.
  bgp | exporter)
    set -- -Xms8m -Xmn4m -Xmx256m -XX:MinHeapFreeRatio=5 -XX:MaxHeapFreeRatio=10 "$@"
    export MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=131072 MALLOC_TRIM_THRESHOLD_=131072
    ;;
  # What posts and polls has these calls deeper down, again as in the plugin.
  perf) set -- -XX:C1MaxInlineLevel=20 "$@" ;;
esac
# Options for all programs in Java may keep the doctor's from starting. It leaves them aside, as the plugin's does, and names
# them.
if [ "$name" = doctor ]; then
  foreign=
  for each in JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS JDK_AOT_VM_OPTIONS; do
    eval "[ -z \"\${$each-}\" ]" || foreign=$foreign,$each
    unset "$each"
  done
  set -- "-Dheddle.options.of.others=${foreign#,}" "$@"
fi
# What is short is done before the second compiler is. A demo of a WAN is a hundred gateways for a minute. A bridge forwards for
# months: by the first compiler alone it takes 4 us more for a packet that wakes it.
case "$action $* " in
  *" demo "*" --wan "* | "bridge run "*) ;;
  *) set -- -XX:TieredStopAtLevel=1 "$@" ;;
esac
# In the C locale Java takes names of files for ASCII and loses all other bytes; they are UTF-8 on such hosts.
case ${LC_ALL:-${LC_CTYPE:-${LANG:-C}}} in
  C | POSIX) if [ -n "${LC_ALL-}" ]; then export LC_ALL=C.UTF-8; else export LC_CTYPE=C.UTF-8; fi ;;
esac
exec "$java" --enable-native-access=ALL-UNNAMED -XX:+UseSerialGC "$@"

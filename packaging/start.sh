#!/bin/sh
# Runs a command on a given Java with given classes: start.sh JAVA CLASSPATH COMMAND [OPTION]... Both heddle commands,
# the checkout's and the installed one, end here, and so do programs that measure one.
java=$1
classes=$2
shift 2
name=${1-}
action="${1-} ${2-}"
set -- -cp "$classes" io.heddle.cli.heddle.HeddleCommand "$@"
# Inlines three methods on the path of every memory access and foreign call, as in the plugin (jvm_start.c): a large
# feed takes 13 % less time.
case $name in
  bgp | bridge | exporter | perf)
    inline=-XX:CompileCommand=inline,jdk.internal
    set -- -XX:CompileCommand=quiet "$inline.foreign.abi.SharedUtils::checkNative" \
      "$inline.foreign.AbstractMemorySegmentImpl::equals" "$inline.misc.Unsafe::convEndian" "$@"
    ;;
esac
case $name in
  # Keeps a daemon's memory small: a small young generation is reused over and over, a large one is touched once.
  # Freed memory is returned to the host, and malloc does likewise: one arena, and large blocks always as separate
  # mappings.
  bgp | exporter)
    set -- -Xms8m -Xmn4m -Xmx256m -XX:MinHeapFreeRatio=5 -XX:MaxHeapFreeRatio=10 "$@"
    export MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=131072 MALLOC_TRIM_THRESHOLD_=131072
    ;;
  # Posting and polling nest these calls deeper; as in the plugin.
  perf) set -- -XX:C1MaxInlineLevel=20 "$@" ;;
esac
# Options for all Java programs may keep the doctor from starting. It ignores them, as the plugin does, and names
# them.
if [ "$name" = doctor ]; then
  foreign=
  for each in JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS JDK_AOT_VM_OPTIONS; do
    eval "[ -z \"\${$each-}\" ]" || foreign=$foreign,$each
    unset "$each"
  done
  set -- "-Dheddle.options.of.others=${foreign#,}" "$@"
fi
# Short commands end before the second compiler pays off. A WAN demo is a hundred gateways for a minute. A bridge
# forwards for months: with C1 alone, a packet that wakes it takes 4 us more.
case "$action $* " in
  *" demo "*" --wan "* | "bridge run "*) ;;
  *) set -- -XX:TieredStopAtLevel=1 "$@" ;;
esac
# In the C locale Java treats file names as ASCII and loses all other bytes; on such hosts they are UTF-8.
case ${LC_ALL:-${LC_CTYPE:-${LANG:-C}}} in
  C | POSIX) if [ -n "${LC_ALL-}" ]; then export LC_ALL=C.UTF-8; else export LC_CTYPE=C.UTF-8; fi ;;
esac
exec "$java" --enable-native-access=ALL-UNNAMED -XX:+UseSerialGC "$@"

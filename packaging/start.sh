#!/bin/sh
# Runs a command with a given Java and given classes: start.sh JAVA CLASSPATH COMMAND [OPTION]...
# Both heddle commands, the checkout's and the installed one, end here, and so do programs that measure one.
java=$1
classes=$2
shift 2
case ${1-} in
  # A daemon's memory is the host's: a small young generation is touched again and again, a large one once, what was freed
  # is given back, and malloc does likewise: one arena, large blocks as mappings of their own however many were freed
  # before. Three methods on the way of every memory access are put where they are called, as in the plugin (jvm_start.c):
  # a large feed takes 13 % less time.
  bgp | exporter)
    inline=-XX:CompileCommand=inline,jdk.internal
    set -- -Xms8m -Xmn4m -Xmx256m -XX:MinHeapFreeRatio=5 -XX:MaxHeapFreeRatio=10 -XX:CompileCommand=quiet \
      "$inline.foreign.abi.SharedUtils::checkNative" "$inline.foreign.AbstractMemorySegmentImpl::equals" \
      "$inline.misc.Unsafe::convEndian" -cp "$classes" io.heddle.tools.HeddleCommand "$@"
    export MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=131072 MALLOC_TRIM_THRESHOLD_=131072
    ;;
  *) set -- -cp "$classes" io.heddle.tools.HeddleCommand "$@" ;;
esac
exec "$java" --enable-native-access=ALL-UNNAMED -XX:+UseSerialGC -XX:TieredStopAtLevel=1 "$@"

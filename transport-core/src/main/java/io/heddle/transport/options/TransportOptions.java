package io.heddle.transport.options;

import io.heddle.addr.RocePorts;
import io.heddle.platform.Option;
import io.heddle.spray.SprayPolicy;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Settings of the transport, and its handling of NCCL's settings for InfiniBand. */
public final class TransportOptions {
  public static final Option<String> PROVIDER =
      Option.choice(
          "HEDDLE_PROVIDER",
          List.of("auto", "libibverbs", "soft"),
          "auto",
          "which devices to use: those of libibverbs, the user-space RoCEv2 device, or libibverbs'"
              + " where it has some and else the soft one");

  public static final Option<String> PLANES =
      Option.text(
          "HEDDLE_PLANES",
          "selector=key,…",
          "address, prefix or interface name = key, separated by commas",
          "which addresses are planes, and what both ends call them; without it one plane per"
              + " interface, or per subnet where one interface has all");

  public static final Option<String> WEIGHTS =
      Option.text(
          "HEDDLE_WEIGHTS",
          "list",
          "whole numbers from 0 to 1000000, one per plane in order of keys, or key=weight,"
              + " separated by commas",
          "each plane's share of the bytes; equal without it");

  public static final Option<String> ROUTES =
      Option.text(
          "HEDDLE_ROUTES",
          "file",
          "the file that the route daemon publishes, or none",
          "source of the weights per destination; without it /run/heddle/routes, if that exists."
              + " HEDDLE_WEIGHTS takes precedence");

  public static final Option<Long> ROUTES_HOLD =
      Option.number(
          "HEDDLE_ROUTES_HOLD_MS",
          "ms",
          30_000,
          0,
          86_400_000,
          "how long the last weights hold once the route daemon gives no sign of life; then all"
              + " planes weigh the same");

  public static final Option<String> POLICY =
      Option.choice(
          "HEDDLE_POLICY",
          Stream.concat(SprayPolicy.NAMES.stream(), Stream.of(SprayPolicy.PACKET)).toList(),
          SprayPolicy.NAMES.getFirst(),
          "how a message is spread over the planes: chunks by weight, as long as that leaves no"
              + " capacity idle, one segment per plane by weight, chunks to the plane with the"
              + " least in flight, SprayLink, as ECMP would, or, between soft devices only, one"
              + " queue pair over all planes whose trains of packets are distributed by weight");

  public static final Option<Long> CONNECT_TIMEOUT =
      Option.number(
          "HEDDLE_CONNECT_TIMEOUT_MS",
          "ms",
          30_000,
          100,
          3_600_000,
          "longest silence of a peer while a connection with it is made, before connect or accept"
              + " fails");

  public static final Option<Long> GRACE =
      Option.number(
          "HEDDLE_GRACE_MS",
          "ms",
          10_000,
          0,
          3_600_000,
          "how long a connection waits for a plane to come back when none is left, before it"
              + " fails");

  public static final Option<String> STATS_DIRECTORY =
      Option.text(
          "HEDDLE_STATS_DIR",
          "folder",
          "a folder that can be written",
          "folder of each process's file of counters, which stays there after the process's end."
              + " Without it the file is under /dev/shm and removed with the process");

  public static final Option<String> SOFT_FAULTS =
      Option.text(
          "HEDDLE_SOFT_FAULTS",
          "name=value,…",
          "loss, duplicate, reorder, corrupt, ghost (shares from 0 to 0.5, at most 1 together),"
              + " send-loss (a share from 0 to 0.5), delay-us (a whole number from 0 to 100000),"
              + " ghost-ms (a whole number from 1 to 10000) and seed (a whole number)",
          "makes the soft device lose, repeat, hold back and damage packets that arrive, give"
              + " ghosts back only ghost-ms (500) later, delay each packet by delay-us, give or"
              + " take a quarter, in order, and lose the share send-loss of those that it sends;"
              + " for tests");

  public static final Option<String> SOFT_PEERS =
      Option.choice(
          "HEDDLE_SOFT_PEERS",
          List.of("soft", "standard"),
          "soft",
          "protocol between soft devices: soft, out of order with selective retransmission; or as"
              + " with standard devices, in order with go-back-N, for comparison. Set it alike on"
              + " all hosts");

  public static final Option<String> PORTS =
      Option.text(
          RocePorts.VARIABLE,
          "ports",
          "a range of ports from 1024 to 65535, such as 4791-4854",
          "the UDP ports at which the soft devices of a host receive: each process takes the first"
              + " free one on each of its addresses, or any port once none is free; "
              + RocePorts.STANDARD
              + " without it. A firewall has to let the range in. Standard devices reach only"
              + " 4791");

  public static final Option<String> SOURCE_PORTS =
      Option.text(
          "HEDDLE_SOURCE_PORTS",
          "ports",
          "ports and ranges from 1024 to 65535, separated by commas, such as 49152,49160-49167",
          "the UDP source ports of the soft device's packets, by which switches choose among equal"
              + " links: each queue pair takes the first free one on its address, or any port once"
              + " none is free; any without it. heddle paths pick chooses ports that spread"
              + " evenly");

  public static final Option<String> JAVA_HOME =
      Option.text(
          "HEDDLE_JAVA_HOME",
          "folder",
          "a JDK or runtime of Java 25 or later",
          "the Java that the plugin starts; read by the shim before anything else");

  public static final Option<String> JVM_OPTIONS =
      Option.text(
          "HEDDLE_JVM_OPTIONS",
          "options",
          "options of the java command, separated by blanks",
          "added to those that the plugin starts its Java with; read by the shim");

  public static final Option<String> ONE_SIDED =
      Option.choice(
          "HEDDLE_ONE_SIDED",
          List.of("0", "1"),
          "0",
          "1 provides NCCL's one-sided operations (RMA, GIN by a proxy), on GPU memory by dma-bufs;"
              + " with 0 the plugin's one-sided tables refuse, and NCCL tries other plugins; read"
              + " by the shim");

  public static final Option<String> SOCKET_INTERFACES =
      Option.text(
          "NCCL_SOCKET_IFNAME",
          "names",
          "interface names, as NCCL understands them: prefixes, =exact, ^not",
          "the interface whose address control channels use");

  public static final Option<String> SOCKET_FAMILY =
      Option.text(
          "NCCL_SOCKET_FAMILY",
          "family",
          "AF_INET or AF_INET6",
          "the address family that control channels use");

  /** All options, in the order of the reference page. */
  public static final List<Option<?>> ALL =
      Stream.of(
              List.<Option<?>>of(
                  PROVIDER,
                  PLANES,
                  WEIGHTS,
                  ROUTES,
                  ROUTES_HOLD,
                  POLICY,
                  CONNECT_TIMEOUT,
                  GRACE,
                  STATS_DIRECTORY,
                  SOFT_FAULTS,
                  SOFT_PEERS,
                  PORTS,
                  SOURCE_PORTS,
                  JAVA_HOME,
                  JVM_OPTIONS,
                  ONE_SIDED),
              InfinibandOptions.ALL,
              List.<Option<?>>of(SOCKET_INTERFACES, SOCKET_FAMILY))
          .<Option<?>>flatMap(List::stream)
          .toList();

  /** Variables of NCCL's InfiniBand transport that Heddle ignores, each with its reason. */
  public static final Map<String, String> IGNORED = InfinibandOptions.IGNORED;

  private TransportOptions() {}

  /**
   * Returns log lines about NCCL's variables, by variable; a line is logged if its variable is set.
   */
  public static Map<String, String> remarks() {
    Map<String, String> remarks = new LinkedHashMap<>(InfinibandOptions.HONOURED);
    remarks.putAll(IGNORED);
    return remarks;
  }
}

package io.heddle.transport;

import io.heddle.platform.Option;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The settings of the transport, and what becomes of NCCL's own for its InfiniBand transport. */
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
              + " interface, or per /64 where one interface has all");

  public static final Option<String> WEIGHTS =
      Option.text(
          "HEDDLE_WEIGHTS",
          "list",
          "whole numbers from 0 to 1000000, one per plane in order of keys, or key=weight,"
              + " separated by commas",
          "how much of the bytes each plane takes; all the same without it");

  public static final Option<String> POLICY =
      Option.choice(
          "HEDDLE_POLICY",
          List.of("spray", "pinned", "hash"),
          "spray",
          "how a message is laid over the planes: chunks by weight, one segment per plane by"
              + " weight, or what ECMP would do");

  public static final Option<Long> CONNECT_TIMEOUT =
      Option.number(
          "HEDDLE_CONNECT_TIMEOUT_MS",
          "ms",
          30_000,
          100,
          3_600_000,
          "how long the two ends of a connection may take to agree before connect or accept fails");

  public static final Option<String> STATS_DIRECTORY =
      Option.text(
          "HEDDLE_STATS_DIR",
          "folder",
          "a folder that can be written",
          "where the counters of each process lie; the file stays there after its end. Without it"
              + " they lie under /dev/shm and go with the process");

  public static final Option<String> SOFT_FAULTS =
      Option.text(
          "HEDDLE_SOFT_FAULTS",
          "name=value,…",
          "loss, duplicate, reorder, corrupt (0 to 1), delay-us, seed",
          "makes the soft device lose, repeat, hold back and damage packets, to test what stands on"
              + " it");

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

  public static final Option<Long> IB_TIMEOUT =
      Option.number(
          "NCCL_IB_TIMEOUT",
          "code",
          18,
          1,
          31,
          "how long a queue pair waits for an acknowledgement: 4.096 µs times 2 to this power (18"
              + " is 1.07 s). NCCL's own default is 20");

  public static final Option<Long> IB_RETRIES =
      Option.number(
          "NCCL_IB_RETRY_CNT",
          "tries",
          7,
          0,
          7,
          "how often a packet is sent again before its queue pair fails");

  public static final Option<Long> IB_TRAFFIC_CLASS =
      Option.number(
          "NCCL_IB_TC",
          "class",
          -1,
          -1,
          255,
          "IPv6 traffic class of the data; -1 takes the communicator's, else 0");

  public static final Option<Long> IB_SERVICE_LEVEL =
      Option.number("NCCL_IB_SL", "level", -1, -1, 7, "service level; -1 is 0");

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

  /** Every option, in the order of the reference page. */
  public static final List<Option<?>> ALL =
      List.of(
          PROVIDER,
          PLANES,
          WEIGHTS,
          POLICY,
          CONNECT_TIMEOUT,
          STATS_DIRECTORY,
          SOFT_FAULTS,
          JAVA_HOME,
          JVM_OPTIONS,
          IB_TIMEOUT,
          IB_RETRIES,
          IB_TRAFFIC_CLASS,
          IB_SERVICE_LEVEL,
          SOCKET_INTERFACES,
          SOCKET_FAMILY);

  private static final String PLANES_DO_IT =
      "ignored: addresses are chosen per plane, never by index or family; HEDDLE_PLANES selects"
          + " them";
  private static final String FAILOVER_DOES_IT =
      "ignored: it concerns fused ports, Heddle works on planes";
  private static final String NOT_OURS = "ignored: it concerns NCCL's own InfiniBand transport";

  /** Variables that NCCL's InfiniBand transport reads and Heddle doesn't, with the reason. */
  public static final Map<String, String> FOREIGN = foreign();

  private TransportOptions() {}

  private static Map<String, String> foreign() {
    Map<String, String> foreign = new LinkedHashMap<>();
    for (String name : List.of("GID_INDEX", "ADDR_FAMILY", "ADDR_RANGE", "ROCE_VERSION_NUM")) {
      foreign.put("NCCL_IB_" + name, PLANES_DO_IT);
    }
    for (String name :
        List.of(
            "RESILIENCY_PORT_FAILOVER",
            "RESILIENCY_PORT_FAILOVER_MAX_ATTEMPTS",
            "RESILIENCY_PORT_FAILOVER_PROBE_DELAY",
            "RESILIENCY_PORT_RECOVERY",
            "RESILIENCY_PORT_RECOVERY_START_DELAY",
            "RESILIENCY_PORT_RECOVERY_ALIVE_MSG_BATCH_INTERVAL",
            "RESILIENCY_PORT_RECOVERY_ALIVE_MSG_BATCH_SIZE",
            "RESILIENCY_PORT_RECOVERY_ALIVE_MSG_SEQUENCE_SIZE",
            "RESILIENCY_PORT_RECOVERY_ALIVE_MSG_TIMEOUT",
            "RESILIENCY_PORT_RECOVERY_ACK_TIMEOUT",
            "RESILIENCY_PORT_RECOVERY_ATTEMPTS_MAX")) {
      foreign.put("NCCL_IB_" + name, FAILOVER_DOES_IT);
    }
    for (String name :
        List.of(
            "HCA",
            "PKEY",
            "USE_INLINE",
            "FIFO_TC",
            "ECE_ENABLE",
            "AR_THRESHOLD",
            "ADAPTIVE_ROUTING",
            "RETURN_ASYNC_EVENTS",
            "PCI_RELAXED_ORDERING",
            "MQP_RETRY_ALL",
            "MQP_RETRY_CNT",
            "MQP_RETRY_SLEEP_MSEC",
            "QUERY_PORT_SPEED",
            "QPS_PER_CONNECTION",
            "SPLIT_DATA_ON_QPS",
            "MERGE_VFS",
            "MERGE_NICS",
            "DEVICE_PCI_ORDER",
            "DATA_DIRECT",
            "DISABLE",
            "ROUTABLE_FLID_GID_INDEX",
            "SUBNET_AWARE_ROUTING",
            "SUBNET_PREFIX_LEN",
            "WARN_RAIL_LOCAL",
            "RECEIVER_SIDE_MATCHING_SCHEME",
            "PREPOST_RECEIVE_WORK_REQUESTS",
            "OOO_RQ")) {
      foreign.put("NCCL_IB_" + name, NOT_OURS);
    }
    return foreign;
  }
}

package io.heddle.transport.options;

import io.heddle.addr.AddressFilter;
import io.heddle.platform.Option;
import io.heddle.transport.control.ControlCodec;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Variables of NCCL's own InfiniBand transport: honoured, mapped to Heddle's counterpart, or
 * ignored. One line is logged for each that is set.
 */
public final class InfinibandOptions {
  public static final Option<String> HCA =
      Option.text(
          HcaSelection.VARIABLE,
          "names",
          "names of devices, separated by commas, each name[:port[:rail]]; = before them takes"
              + " exact names only, ^ all devices but these",
          "which devices to use; all that carry a plane without it");

  public static final Option<String> ADDRESS_RANGE =
      Option.text(
          AddressFilter.RANGE_VARIABLE,
          "prefixes",
          "prefixes such as fd00:1:1::/48, separated by commas",
          "only addresses within one of them can be planes");

  public static final Option<String> ADDRESS_FAMILY =
      Option.text(
          AddressFilter.FAMILY_VARIABLE,
          "family",
          "AF_INET or AF_INET6",
          "only addresses of this family can be planes; without it global IPv6 addresses, on hosts"
              + " that have none IPv4 ones, and those that HEDDLE_PLANES names");

  public static final Option<Long> GID_INDEX =
      Option.ncclNumber(
          "NCCL_IB_GID_INDEX",
          "index",
          -1,
          -1,
          65_535,
          -1,
          "for debugging: one plane only, the one whose address has this index in the device's"
              + " table of GIDs at the start; -1 takes all planes");

  static final Option<Long> ROCE_VERSION =
      Option.ncclNumber(
          "NCCL_IB_ROCE_VERSION_NUM",
          "version",
          2,
          2,
          2,
          2,
          "version of RoCE; planes are routed, which version 1 can't be");

  public static final Option<Long> TIMEOUT =
      Option.ncclNumber(
          "NCCL_IB_TIMEOUT",
          "code",
          14,
          1,
          31,
          31,
          "how long a queue pair waits for an acknowledgement: 4.096 µs times 2 to this power (14"
              + " is 67 ms). NCCL's own default is 20; here it sets how soon a silent plane is"
              + " left");

  public static final Option<Long> RETRIES =
      Option.ncclNumber(
          "NCCL_IB_RETRY_CNT",
          "tries",
          6,
          0,
          7,
          7,
          "retransmissions of a packet before its queue pair fails; for the kernel's Soft-RoCE 7 is"
              + " unlimited");

  public static final Option<Long> TRAFFIC_CLASS =
      Option.ncclNumber(
          "NCCL_IB_TC",
          "class",
          -1,
          -1,
          255,
          -1,
          "IPv6 traffic class of the data; -1 takes the communicator's, else 0");

  public static final Option<Long> CLEAR_TO_SEND_TRAFFIC_CLASS =
      Option.ncclNumber(
          "NCCL_IB_FIFO_TC",
          "class",
          -1,
          -1,
          255,
          -1,
          "IPv6 traffic class of receivers' packets, clear-to-send entries and acknowledgements; -1"
              + " takes that of the data");

  public static final Option<Long> SERVICE_LEVEL =
      Option.ncclNumber(
          "NCCL_IB_SL", "level", -1, -1, 15, -1, "service level; -1 is 0, and RoCE has 0 to 7");

  public static final Option<Long> QUEUE_PAIRS =
      Option.ncclNumber(
          "NCCL_IB_QPS_PER_CONNECTION",
          "queue pairs",
          1,
          1,
          ControlCodec.MAX_QUEUE_PAIRS_PER_PLANE,
          ControlCodec.MAX_QUEUE_PAIRS_PER_PLANE,
          "queue pairs of a connection on each plane; the smaller of both ends' numbers counts, and"
              + " 64 over all planes");

  public static final Option<Long> SPLIT =
      Option.ncclNumber(
          "NCCL_IB_SPLIT_DATA_ON_QPS",
          "switch",
          0,
          0,
          1,
          1,
          "whether the chunks of one message use all queue pairs of a plane, or each message one of"
              + " them in turn");

  public static final Option<Long> USE_INLINE =
      Option.ncclNumber(
          "NCCL_IB_USE_INLINE",
          "switch",
          0,
          0,
          1,
          1,
          "whether clear-to-send entries travel inline in their work requests, so that the adapter"
              + " needn't read them from memory; where the device supports it");

  public static final Option<Long> ASYNC_EVENTS =
      Option.ncclNumber(
          "NCCL_IB_RETURN_ASYNC_EVENTS",
          "switch",
          1,
          0,
          1,
          1,
          "whether a device's report that it or a queue pair is broken ends the communicators"
              + " concerned, or is only logged");

  public static final Option<Long> CONNECT_RETRIES =
      Option.ncclNumber(
          "NCCL_IB_MQP_RETRY_CNT",
          "tries",
          34,
          0,
          10_000,
          10_000,
          "retries of a queue pair whose device timed out while it connected it");

  public static final Option<Long> RETRY_ANY =
      Option.ncclNumber(
          "NCCL_IB_MQP_RETRY_ALL",
          "switch",
          0,
          0,
          1,
          1,
          "whether such a queue pair is retried after any error of its device");

  public static final Option<Long> CONNECT_PAUSE =
      Option.ncclNumber(
          "NCCL_IB_MQP_RETRY_SLEEP_MSEC",
          "ms",
          100,
          0,
          60_000,
          60_000,
          "pause before each such retry; HEDDLE_CONNECT_TIMEOUT_MS bounds all of them");

  public static final Option<Long> PCI_ORDER =
      Option.ncclNumber(
          "NCCL_IB_DEVICE_PCI_ORDER",
          "switch",
          1,
          0,
          1,
          1,
          "whether several devices are listed in order of their PCI addresses, or in the"
              + " provider's");

  public static final Option<Long> RELAXED_ORDERING =
      Option.ncclNumber(
          "NCCL_IB_PCI_RELAXED_ORDERING",
          "switch",
          2,
          0,
          2,
          2,
          "whether a device may write received data to memory out of order, which some hosts need"
              + " for full speed: 0 never, 1 and 2 where device and kernel support it."
              + " Clear-to-send entries keep their order");

  public static final Option<Long> FLUSH_DISABLE =
      Option.ncclNumber(
          "NCCL_GDR_FLUSH_DISABLE",
          "switch",
          0,
          0,
          1,
          1,
          "1 skips the read after a receive into GPU memory that makes the data visible to the"
              + " GPU; for hosts that are known not to need it");

  static final List<Option<?>> ALL =
      List.of(
          HCA,
          ADDRESS_RANGE,
          ADDRESS_FAMILY,
          GID_INDEX,
          ROCE_VERSION,
          TIMEOUT,
          RETRIES,
          TRAFFIC_CLASS,
          CLEAR_TO_SEND_TRAFFIC_CLASS,
          SERVICE_LEVEL,
          QUEUE_PAIRS,
          SPLIT,
          USE_INLINE,
          ASYNC_EVENTS,
          CONNECT_RETRIES,
          RETRY_ANY,
          CONNECT_PAUSE,
          PCI_ORDER,
          RELAXED_ORDERING,
          FLUSH_DISABLE);

  private static final String FAILOVER_DOES_IT =
      "ignored: it concerns fused ports, Heddle works on planes";
  private static final String NCCL_INTERNAL =
      "ignored: it concerns the internals of NCCL's own transport";
  private static final String ONE_WRITE =
      "ignored: each chunk is one RDMA WRITE WITH IMMEDIATE, on any fabric";
  private static final String NO_FUSING =
      "ignored: Heddle uses several planes in one device, and merges no devices";

  /** Ignored variables, each with its reason. */
  static final Map<String, String> IGNORED = ignored();

  /**
   * Log lines for the variables of {@link #ALL}, by variable; a line is logged if its variable is
   * set.
   */
  static final Map<String, String> HONOURED = honoured();

  private InfinibandOptions() {}

  private static Map<String, String> honoured() {
    Map<String, String> taken = new LinkedHashMap<>();
    for (Option<?> option : ALL) {
      taken.put(option.name(), "honoured: " + option.why());
    }
    taken.put(
        GID_INDEX.name(), "mapped: only the plane whose address has this index, for debugging");
    taken.put(ADDRESS_FAMILY.name(), "mapped: only addresses of this family can be planes");
    taken.put(QUEUE_PAIRS.name(), "mapped: " + QUEUE_PAIRS.why());
    taken.put(SPLIT.name(), "mapped: " + SPLIT.why());
    return taken;
  }

  private static Map<String, String> ignored() {
    Map<String, String> ignored = new LinkedHashMap<>();
    put(ignored, "ignored: RoCE has one partition key, at index 0", "PKEY");
    put(ignored, "ignored: queue pairs are connected without it", "ECE_ENABLE");
    put(ignored, ONE_WRITE, "AR_THRESHOLD", "ADAPTIVE_ROUTING");
    put(ignored, "ignored: the provider reports the port's speed", "QUERY_PORT_SPEED");
    put(ignored, NO_FUSING, "MERGE_VFS", "MERGE_NICS");
    put(ignored, "ignored: GPU memory is registered by its dma-buf", "DATA_DIRECT");
    put(ignored, "ignored: HEDDLE_PROVIDER chooses the devices", "DISABLE");
    put(
        ignored,
        "ignored: planes decide which addresses talk to each other",
        "ROUTABLE_FLID_GID_INDEX",
        "SUBNET_AWARE_ROUTING",
        "SUBNET_PREFIX_LEN",
        "WARN_RAIL_LOCAL");
    put(
        ignored,
        NCCL_INTERNAL,
        "RECEIVER_SIDE_MATCHING_SCHEME",
        "PREPOST_RECEIVE_WORK_REQUESTS",
        "OOO_RQ");
    put(
        ignored,
        FAILOVER_DOES_IT,
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
        "RESILIENCY_PORT_RECOVERY_ATTEMPTS_MAX");
    return ignored;
  }

  private static void put(Map<String, String> reasons, String reason, String... names) {
    for (String name : names) {
      reasons.put("NCCL_IB_" + name, reason);
    }
  }
}

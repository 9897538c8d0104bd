package io.heddle.bridge.status;

import io.heddle.bridge.peer.Role;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Memory;
import io.heddle.platform.MemoryCalls;
import io.heddle.platform.OpenFile;
import io.heddle.platform.OpenFolder;
import io.heddle.platform.SystemCallException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Snapshot of a bridge's status file.
 *
 * @param name of the bridge
 * @param process number of its process
 * @param running whether its heartbeat is at most three seconds old
 * @param upSeconds from its start to its last heartbeat
 * @param generation number of reloads
 * @param config the configuration file
 * @param lastError the newest error for the operator; empty for none
 * @param fabrics both, a first
 * @param groups in the order of their creation
 * @param unicast datagrams for one host; null if they aren't bridged
 * @param redundancy this bridge among several; null for a single bridge
 */
public record BridgeStatus(
    String name,
    long process,
    boolean running,
    double upSeconds,
    long generation,
    String config,
    String lastError,
    List<Fabric> fabrics,
    List<Group> groups,
    @Nullable Unicast unicast,
    @Nullable RedundancyStatus redundancy) {
  private static final long SILENT_MS = 3000;
  private static final double NS_PER_US = 1000;

  /**
   * Fabric, with the packets from it that belong to no group.
   *
   * @param name as configured
   * @param description kind, interface and addresses
   * @param receivedPackets all received packets
   * @param receivedBytes their bytes, from BTH to CRC
   * @param receivedTrains datagrams, or merged trains of them, that the system delivered
   * @param unknownGroup dropped: their group isn't bridged
   * @param unicast dropped: they were for one host
   * @param empty dropped: datagrams of length 0
   * @param kernelQueueFull dropped by the system before the bridge received them, of any group
   * @param sentMessages single packets and trains that were passed to the system
   * @param trainsRefused trains that the system accepted packet by packet only
   * @param queuePairFailures number of failed and restarted queue pairs of libibverbs
   * @param portEvents asynchronous events of the libibverbs device
   */
  public record Fabric(
      String name,
      String description,
      long receivedPackets,
      long receivedBytes,
      long receivedTrains,
      long unknownGroup,
      long unicast,
      long empty,
      long kernelQueueFull,
      long sentMessages,
      long trainsRefused,
      long queuePairFailures,
      long portEvents) {}

  /**
   * Multicast group.
   *
   * @param group its address
   * @param settings its configuration
   * @param suspended whether the storm guard has suspended it
   * @param owner the bridge that the view assigns it to, 0 for none; null for a single bridge
   * @param role of this bridge: owner, standby, no-owner
   * @param dropEvery one of this many packets is dropped on purpose in each direction; 0 for none
   * @param directions both, from fabric a first
   * @param pgm counters of its PGM packets; null if they aren't parsed
   */
  public record Group(
      String group,
      String settings,
      boolean suspended,
      @Nullable Integer owner,
      String role,
      int dropEvery,
      List<Direction> directions,
      @Nullable PgmStatus pgm) {}

  /**
   * Unicast datagrams.
   *
   * @param settings their configuration
   * @param directions both, from fabric a first
   * @param clients of fabric a, then of b
   */
  public record Unicast(String settings, List<Direction> directions, List<Clients> clients) {}

  /**
   * Requests of the clients in one fabric to hosts of the other.
   *
   * @param requests SIDR requests, each once
   * @param repeats of the same requests
   * @param replies that were returned to them
   * @param waiting requests that wait for a reply now
   * @param timedOut requests without a reply within 10 s, which the bridge failed
   * @param requestsEvicted requests that were evicted from the full table
   * @param pairs of a host there and one in the other fabric, active within 5 minutes
   * @param pairsEvicted pairs that were evicted from the full table
   * @param pairsAged pairs that were idle for 5 minutes
   */
  public record Clients(
      long requests,
      long repeats,
      long replies,
      long waiting,
      long timedOut,
      long requestsEvicted,
      long pairs,
      long pairsEvicted,
      long pairsAged) {}

  /**
   * One direction of a group.
   *
   * @param from the source fabric
   * @param to the destination fabric
   * @param arrived packets received for the group
   * @param forwarded packets that left
   * @param forwardedBytes their bytes, from BTH to CRC
   * @param packetsPerSecond that left over the last second
   * @param bytesPerSecond that left over the last second
   * @param dropped packets that weren't forwarded
   * @param drops the same by reason, without zeros
   * @param pending packets queued in the limiter
   * @param delayed packets that were queued there so far
   * @param longestWaitUs the longest queueing time
   * @param latenessMedianUs from the system's receive to the send; null before the first packet
   * @param latenessP999Us 99.9th percentile of the same
   */
  public record Direction(
      String from,
      String to,
      long arrived,
      long forwarded,
      long forwardedBytes,
      long packetsPerSecond,
      long bytesPerSecond,
      long dropped,
      Map<String, Long> drops,
      long pending,
      long delayed,
      double longestWaitUs,
      @Nullable Double latenessMedianUs,
      @Nullable Double latenessP999Us) {}

  /**
   * Reads a status file.
   *
   * @throws HeddleException if there is none, or it isn't a bridge's
   */
  public static BridgeStatus read(Path path) {
    try (OpenFolder folder = OpenFolder.parentOf(path);
        OpenFile file = folder.open(path.getFileName().toString(), false)) {
      long length = file.sizeBytes();
      if (length < StatusLayout.PAGE_BYTES) {
        throw new HeddleException(path + " isn't a bridge's status file: it is too short");
      }
      long address = file.map(length, false);
      try {
        return read(path, address, length);
      } finally {
        MemoryCalls.unmapMemory(address, length);
      }
    } catch (SystemCallException refused) {
      throw new HeddleException(
          "no bridge's status can be read at "
              + path
              + " ("
              + refused.getMessage()
              + "); start one with heddle bridge run, or name its file with --status",
          refused);
    }
  }

  private static BridgeStatus read(Path path, long file, long length) {
    if (Memory.getLongAcquire(file + StatusLayout.MAGIC_AT) != StatusLayout.MAGIC) {
      throw new HeddleException(
          path + " isn't a bridge's status file, or its bridge is just starting");
    }
    int version = Memory.getInt(file + StatusLayout.VERSION_AT);
    if (version != StatusLayout.VERSION) {
      throw new HeddleException(
          path
              + " has layout "
              + version
              + " and this command reads "
              + StatusLayout.VERSION
              + "; use the command that came with the bridge");
    }
    if (length < StatusLayout.FILE_BYTES) {
      throw new HeddleException(path + " was truncated; restart its bridge");
    }
    long alive = Memory.getLong(file + StatusLayout.ALIVE_MS_AT);
    long now = System.currentTimeMillis();
    List<Fabric> fabrics = List.of(fabric(file, 0), fabric(file, 1));
    List<Group> groups = new ArrayList<>();
    Unicast unicast = null;
    long used =
        Math.min(Memory.getLongAcquire(file + StatusLayout.SLOTS_USED_AT), StatusLayout.MOST_SLOTS);
    for (int slot = 0; slot < used; slot++) {
      long at = StatusLayout.slot(file, slot);
      int state = Memory.getIntAcquire(at + StatusLayout.STATE_AT);
      if (state == StatusLayout.UNICAST) {
        unicast = unicast(at, fabrics);
      } else if (state != StatusLayout.FREE) {
        groups.add(group(file, slot, fabrics));
      }
    }
    return new BridgeStatus(
        StatusLayout.text(file + StatusLayout.NAME_AT, StatusLayout.TEXT_BYTES),
        Memory.getLong(file + StatusLayout.PROCESS_AT),
        alive != 0 && now - alive < SILENT_MS,
        Math.max(0, (alive == 0 ? now : alive) - Memory.getLong(file + StatusLayout.STARTED_MS_AT))
            / 1000.0,
        Memory.getLong(file + StatusLayout.GENERATION_AT),
        StatusLayout.text(file + StatusLayout.CONFIG_AT, StatusLayout.TEXT_BYTES),
        StatusLayout.text(file + StatusLayout.LAST_ERROR_AT, StatusLayout.ERROR_BYTES),
        fabrics,
        List.copyOf(groups),
        unicast,
        RedundancyStatus.read(file));
  }

  private static Fabric fabric(long file, int side) {
    long at = StatusLayout.fabric(file, side);
    long block = at + StatusLayout.FABRIC_COUNTERS_AT;
    return new Fabric(
        StatusLayout.text(at, StatusLayout.TEXT_BYTES),
        StatusLayout.text(at + StatusLayout.TEXT_BYTES, 2 * StatusLayout.TEXT_BYTES),
        FabricCounters.get(block, FabricCounters.RECEIVED_PACKETS),
        FabricCounters.get(block, FabricCounters.RECEIVED_BYTES),
        FabricCounters.get(block, FabricCounters.RECEIVED_TRAINS),
        FabricCounters.get(block, FabricCounters.UNKNOWN_GROUP),
        FabricCounters.get(block, FabricCounters.UNICAST),
        FabricCounters.get(block, FabricCounters.EMPTY),
        FabricCounters.get(block, FabricCounters.KERNEL_QUEUE_FULL),
        FabricCounters.get(block, FabricCounters.SENT_MESSAGES),
        FabricCounters.get(block, FabricCounters.TRAINS_REFUSED),
        FabricCounters.get(block, FabricCounters.QUEUE_PAIR_FAILURES),
        FabricCounters.get(block, FabricCounters.PORT_EVENTS));
  }

  private static Group group(long file, int slotNumber, List<Fabric> fabrics) {
    long slot = StatusLayout.slot(file, slotNumber);
    boolean pgm = Memory.getIntAcquire(slot + StatusLayout.PGM_FLAG_AT) != 0;
    int role = Memory.getIntAcquire(slot + StatusLayout.ROLE_AT);
    boolean alone = role <= 0 || role > Role.values().length;
    return new Group(
        StatusLayout.text(slot + StatusLayout.GROUP_AT, StatusLayout.TEXT_BYTES),
        StatusLayout.text(slot + StatusLayout.SETTINGS_AT, 2 * StatusLayout.TEXT_BYTES),
        Memory.getInt(slot + StatusLayout.STATE_AT) == StatusLayout.SUSPENDED,
        alone ? null : Memory.getInt(slot + StatusLayout.OWNER_AT),
        alone ? Role.OWNER.word() : Role.values()[role - 1].word(),
        Memory.getIntAcquire(slot + StatusLayout.DROP_EVERY_AT),
        directions(slot, fabrics),
        pgm ? PgmStatus.read(file, slot, slotNumber, fabrics) : null);
  }

  private static List<Direction> directions(long slot, List<Fabric> fabrics) {
    return List.of(
        direction(StatusLayout.block(slot, 0), fabrics.get(0), fabrics.get(1)),
        direction(StatusLayout.block(slot, 1), fabrics.get(1), fabrics.get(0)));
  }

  private static Unicast unicast(long slot, List<Fabric> fabrics) {
    return new Unicast(
        StatusLayout.text(slot + StatusLayout.SETTINGS_AT, 2 * StatusLayout.TEXT_BYTES),
        directions(slot, fabrics),
        List.of(clients(StatusLayout.block(slot, 0)), clients(StatusLayout.block(slot, 1))));
  }

  private static Clients clients(long block) {
    return new Clients(
        GroupCounters.get(block, UnicastCounters.REQUESTS),
        GroupCounters.get(block, UnicastCounters.REPEATS),
        GroupCounters.get(block, UnicastCounters.REPLIES),
        GroupCounters.get(block, UnicastCounters.OPEN),
        GroupCounters.get(block, UnicastCounters.TIMED_OUT),
        GroupCounters.get(block, UnicastCounters.REQUESTS_EVICTED),
        GroupCounters.get(block, UnicastCounters.PAIRS),
        GroupCounters.get(block, UnicastCounters.PAIRS_EVICTED),
        GroupCounters.get(block, UnicastCounters.PAIRS_AGED));
  }

  private static Direction direction(long block, Fabric from, Fabric to) {
    Map<String, Long> drops = new TreeMap<>();
    long dropped = 0;
    for (DropReason reason : DropReason.values()) {
      long count = GroupCounters.drops(block, reason);
      dropped += count;
      if (count != 0) {
        drops.put(reason.word(), count);
      }
    }
    long histogram = block + GroupCounters.BYTES_OF_COUNTERS;
    return new Direction(
        from.name(),
        to.name(),
        GroupCounters.get(block, GroupCounters.ARRIVED),
        GroupCounters.get(block, GroupCounters.PACKETS),
        GroupCounters.get(block, GroupCounters.BYTES),
        GroupCounters.get(block, GroupCounters.PACKET_RATE),
        GroupCounters.get(block, GroupCounters.BYTE_RATE),
        dropped,
        drops,
        GroupCounters.get(block, GroupCounters.PENDING),
        GroupCounters.get(block, GroupCounters.DELAYED),
        GroupCounters.get(block, GroupCounters.LONGEST_WAIT_NS) / NS_PER_US,
        microseconds(LatenessHistogram.quantile(histogram, 0.5)),
        microseconds(LatenessHistogram.quantile(histogram, 0.999)));
  }

  private static @Nullable Double microseconds(long ns) {
    return ns < 0 ? null : ns / NS_PER_US;
  }
}

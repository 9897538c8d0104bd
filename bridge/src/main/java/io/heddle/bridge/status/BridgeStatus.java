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
 * @param name name of the bridge
 * @param process id of the bridge's process
 * @param running whether the last heartbeat is at most three seconds old
 * @param upSeconds seconds from the bridge's start to its last heartbeat
 * @param generation number of reloads
 * @param config path of the configuration file
 * @param lastError newest error for the operator; empty for none
 * @param fabrics fabric a, then fabric b
 * @param groups groups by slot of the file
 * @param unicast state of unicast forwarding; null if it is off
 * @param redundancy state of redundancy; null for a single bridge
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
   * @param receivedBytes bytes of the received packets, each from BTH to CRC
   * @param receivedTrains segment trains and single datagrams that the system delivered
   * @param unknownGroup packets dropped because their group isn't bridged
   * @param unicast packets dropped because unicast isn't bridged
   * @param empty datagrams dropped because they were empty or truncated
   * @param kernelQueueFull datagrams that the system dropped because the socket's queue was full
   * @param sentMessages segment trains and single packets that were passed to the system
   * @param trainsRefused trains that the system didn't send as a whole, but packet by packet
   * @param queuePairFailures failures of libibverbs queue pairs, which were restarted
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
   * @param group name of the group, such as 239.1.1.1:4711
   * @param settings settings as {@code key=value} pairs
   * @param suspended whether the storm guard has suspended the group
   * @param owner number of the bridge that the group is assigned to, 0 for none; null for a single
   *     bridge
   * @param role this bridge's role for the group: owner, standby, no-owner
   * @param dropEvery one of this many packets is dropped on purpose in each direction; 0 for none
   * @param directions direction from fabric a, then from fabric b
   * @param pgm counters of PGM packets; null if packets aren't parsed as PGM
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
   * @param settings settings as {@code key=value} pairs
   * @param directions direction from fabric a, then from fabric b
   * @param clients requests of the clients in fabric a, then in fabric b
   */
  public record Unicast(String settings, List<Direction> directions, List<Clients> clients) {}

  /**
   * Requests of the clients in one fabric to hosts of the other.
   *
   * @param requests SIDR requests without repeats
   * @param repeats repeated SIDR requests
   * @param replies replies that were returned to the clients
   * @param waiting requests that wait for a reply now
   * @param timedOut requests without a reply within 10 s, which the bridge failed
   * @param requestsEvicted requests that were evicted from the full table
   * @param pairs host pairs, one host in this and one in the other fabric, active within 5 minutes
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
   * @param forwardedBytes bytes of the forwarded packets, each from BTH to CRC
   * @param packetsPerSecond rate of forwarded packets over the last second
   * @param bytesPerSecond rate of forwarded bytes over the last second
   * @param dropped packets that weren't forwarded
   * @param drops dropped packets by reason, without zeros
   * @param pending packets that are queued in the limiter now
   * @param delayed packets that the limiter has queued so far
   * @param longestWaitUs longest time of a packet in the limiter's queue
   * @param latenessMedianUs median time from the system's receive to the send; null before the
   *     first packet
   * @param latenessP999Us 99.9th percentile of that time; null before the first packet
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
   * @throws HeddleException if there is no such file, or it isn't a bridge's status file
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
        FabricCounter.RECEIVED_PACKETS.get(block),
        FabricCounter.RECEIVED_BYTES.get(block),
        FabricCounter.RECEIVED_TRAINS.get(block),
        FabricCounter.UNKNOWN_GROUP.get(block),
        FabricCounter.UNICAST.get(block),
        FabricCounter.EMPTY.get(block),
        FabricCounter.KERNEL_QUEUE_FULL.get(block),
        FabricCounter.SENT_MESSAGES.get(block),
        FabricCounter.TRAINS_REFUSED.get(block),
        FabricCounter.QUEUE_PAIR_FAILURES.get(block),
        FabricCounter.PORT_EVENTS.get(block));
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

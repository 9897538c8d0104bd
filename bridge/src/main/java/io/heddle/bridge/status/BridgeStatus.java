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
 * What a bridge's status file says at one moment.
 *
 * @param name of the bridge
 * @param process number of its process
 * @param running whether it gave a sign of life within three seconds
 * @param upSeconds since it started, until its last sign of life
 * @param generation how many configurations were in force before this one
 * @param config the configuration file
 * @param lastError the newest error that the operator should hear of; empty for none
 * @param fabrics both, a first
 * @param groups in the order of their coming
 * @param unicast datagrams for one host; null where they aren't bridged
 * @param redundancy this bridge among others; null where it is alone
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
   * A fabric, and what came from it that belongs to no group.
   *
   * @param name as configured
   * @param description kind, interface and addresses
   * @param receivedPackets all packets that came
   * @param receivedBytes their bytes, from BTH to CRC
   * @param receivedTrains datagrams or merged trains of them that the system handed over
   * @param unknownGroup dropped: their group isn't bridged
   * @param unicast dropped: they were for one host
   * @param empty dropped: datagrams without a byte
   * @param kernelQueueFull dropped by the system before the bridge saw them, of any group
   * @param sentMessages single packets and trains that were given to the system
   * @param trainsRefused trains that the system took packet by packet only
   * @param queuePairFailures how often a queue pair of libibverbs has failed and was started anew
   * @param portEvents what a device of libibverbs told of itself
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
   * A group.
   *
   * @param group its address
   * @param settings what is configured for it
   * @param suspended whether the storm guard has suspended it
   * @param owner the bridge that is to own it, 0 for none; null where the bridge is alone
   * @param role what this bridge does with it: owner, standby, no-owner
   * @param dropEvery one packet of so many is dropped on purpose in each direction; 0 for none
   * @param directions both, from fabric a first
   * @param pgm what its PGM packets say; null where they aren't read
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
   * Datagrams for one host.
   *
   * @param settings what is configured for them
   * @param directions both, from fabric a first
   * @param clients of fabric a, then of b
   */
  public record Unicast(String settings, List<Direction> directions, List<Clients> clients) {}

  /**
   * What the clients in one fabric asked hosts of the other for.
   *
   * @param requests SIDR requests, each once
   * @param repeats of the same
   * @param replies that went back to them
   * @param waiting requests that wait for a reply now
   * @param timedOut requests that got none within 10 s, and were failed by the bridge
   * @param requestsEvicted requests that were forgotten for lack of room
   * @param pairs of a host there and one in the other fabric, which talked within 5 minutes
   * @param pairsEvicted pairs that were forgotten for lack of room
   * @param pairsAged pairs that were silent for 5 minutes
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
   * @param from the fabric that packets come from
   * @param to the fabric that they leave for
   * @param arrived packets that came for the group
   * @param forwarded packets that left
   * @param forwardedBytes their bytes, from BTH to CRC
   * @param packetsPerSecond that left over the last second
   * @param bytesPerSecond that left over the last second
   * @param dropped packets that weren't forwarded
   * @param drops the same by reason, those that aren't 0
   * @param pending packets that wait in the limiter
   * @param delayed packets that had to wait there so far
   * @param longestWaitUs the longest time that one waited there
   * @param latenessMedianUs from the system's receive to the send; null before the first packet
   * @param latenessP999Us the same of 99.9 % of packets
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
   * @throws HeddleException where there is none, or it isn't a bridge's
   */
  public static BridgeStatus read(Path path) {
    try (OpenFolder folder = OpenFolder.around(path);
        OpenFile file = folder.open(path.getFileName().toString(), false)) {
      long length = file.sizeBytes();
      if (length < StatusLayout.PAGE_BYTES) {
        throw new HeddleException(path + " is no bridge's status file: it is too short");
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
      throw new HeddleException(path + " is no bridge's status file, or of one that is starting");
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
      throw new HeddleException(path + " was cut; restart its bridge");
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

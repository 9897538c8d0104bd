package io.heddle.bridge.unicast;

import io.heddle.bridge.cm.SidrService;
import io.heddle.bridge.fabric.FabricPort;
import io.heddle.bridge.fabric.PacketPort;
import io.heddle.bridge.fabric.SendPath;
import io.heddle.bridge.infiniband.SubnetHosts;
import io.heddle.bridge.verbs.QueuePairPort;
import io.heddle.verbs.Gid;
import org.jspecify.annotations.Nullable;

/**
 * Port of the bridge in one of two fabrics between which queue pair numbers are mapped. If the port
 * is a UDP socket for RoCEv2, the bridge owns all queue pair numbers of its addresses, queue pair 1
 * included. If it is a libibverbs device, the bridge has some queue pairs, and queue pair 1 belongs
 * to the kernel.
 *
 * <p>Tables identify a queue pair of the bridge by an index. With a UDP socket that is its number,
 * and with a device its position among the bridge's queue pairs.
 */
public final class MappedEnd implements AutoCloseable {
  private final FabricPort fabric;
  private final PacketPort packets;
  private final @Nullable QueuePairPort device;
  private final @Nullable SidrService service;
  private final int[] numbers;
  /*
   * Map from hosts to ports on InfiniBand; null in fabrics whose packets contain hosts' addresses.
   */
  private final @Nullable SubnetHosts hosts;
  private int movesSeen;

  private MappedEnd(
      FabricPort fabric,
      @Nullable QueuePairPort device,
      @Nullable SidrService service,
      int[] numbers) {
    this.fabric = fabric;
    packets = fabric.packets();
    this.device = device;
    this.service = service;
    this.numbers = numbers;
    hosts = device == null ? null : device.hosts();
  }

  /** Returns a port on the wire: a UDP socket for RoCEv2. */
  public static MappedEnd ofSocket(FabricPort fabric) {
    return new MappedEnd(fabric, null, null, new int[0]);
  }

  /**
   * Returns a port on a device.
   *
   * @param service exchanges requests with the fabric's hosts
   */
  public static MappedEnd ofDevice(QueuePairPort device, SidrService service) {
    return new MappedEnd(device, device, service, device.numbers());
  }

  FabricPort fabric() {
    return fabric;
  }

  PacketPort packets() {
    return packets;
  }

  /** Returns the SIDR service of a port on a device; null for a port on the wire. */
  @Nullable SidrService service() {
    return service;
  }

  boolean isDevice() {
    return device != null;
  }

  /**
   * Returns whether packets contain the addresses of both hosts. False on InfiniBand: packets
   * contain only the LID of the sender's port and the number of the bridge's queue pair.
   */
  boolean identifiesHosts() {
    return hosts == null;
  }

  /**
   * Returns the GID of a host's port on InfiniBand; null in other fabrics, and while it isn't
   * known.
   */
  @Nullable Gid portOf(Gid host) {
    return hosts == null ? null : hosts.portOf(host);
  }

  /** Returns whether any host has moved to another port since the last call. */
  boolean haveMoved() {
    int moves = hosts == null ? 0 : hosts.moves();
    boolean moved = moves != movesSeen;
    movesSeen = moves;
    return moved;
  }

  /** Returns the number of the bridge's queue pairs on the device; 0 for a port on the wire. */
  int queuePairs() {
    return numbers.length;
  }

  int indexOf(int number) {
    if (device == null) {
      return number;
    }
    int index = numbers.length - 1;
    while (index > 0 && numbers[index] != number) {
      index--;
    }
    return index;
  }

  int numberOf(int index) {
    return device == null ? index : numbers[index];
  }

  /**
   * Returns the path to a host of the fabric. Returns null if it doesn't exist yet, and starts its
   * creation.
   */
  @Nullable SendPath sendPath(Gid source, Gid destination, int trafficClass) {
    if (device == null || service == null) {
      return fabric.sendPathBetween(source, destination, trafficClass);
    }
    SendPath sendPath = device.readySendPath(source, destination);
    if (sendPath == null) {
      service.prepare(source, destination);
    }
    return sendPath;
  }

  /** Closes the SIDR service, if there is one. */
  @Override
  public void close() {
    if (service != null) {
      service.close();
    }
  }
}

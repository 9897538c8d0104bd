package io.heddle.bridge.unicast;

import io.heddle.bridge.fabric.FabricPort;
import io.heddle.bridge.fabric.NumberService;
import io.heddle.bridge.fabric.NumberedPort;
import io.heddle.bridge.fabric.SubnetHosts;
import io.heddle.bridge.fabric.Way;
import io.heddle.verbs.Gid;
import org.jspecify.annotations.Nullable;

/**
 * The bridge's end in one of two fabrics between which numbers are mapped. On the wire the bridge
 * owns all numbers of its addresses, and queue pair 1. Behind a device it owns some queue pairs,
 * and queue pair 1 is the kernel's. Packets have numbers; an index is what the bridge knows them
 * by: the number itself on the wire, and the place among its queue pairs behind a device.
 */
public final class MappedEnd implements AutoCloseable {
  private final FabricPort fabric;
  private final @Nullable NumberedPort device;
  private final @Nullable NumberService service;
  private final int[] numbers;
  /* Where packets don't name their hosts; null where they do. */
  private final @Nullable SubnetHosts hosts;
  private int movesSeen;

  private MappedEnd(
      FabricPort fabric,
      @Nullable NumberedPort device,
      @Nullable NumberService service,
      int[] numbers) {
    this.fabric = fabric;
    this.device = device;
    this.service = service;
    this.numbers = numbers;
    hosts = device == null ? null : device.hosts();
  }

  /** One on the wire. */
  public static MappedEnd onWire(FabricPort fabric) {
    return new MappedEnd(fabric, null, null, new int[0]);
  }

  /**
   * One behind a device.
   *
   * @param service that asks its hosts and is asked by them
   */
  public static MappedEnd behind(NumberedPort device, NumberService service) {
    return new MappedEnd(device, device, service, device.numbers());
  }

  FabricPort fabric() {
    return fabric;
  }

  /** Null on the wire. */
  @Nullable NumberService service() {
    return service;
  }

  boolean isDevice() {
    return device != null;
  }

  /**
   * Whether packets name both their hosts by addresses. Those of InfiniBand name the sender's port,
   * and nothing of the bridge's but a queue pair.
   */
  boolean namesHosts() {
    return hosts == null;
  }

  /** What packets name a host's port by; null where hosts are named, or while it isn't known. */
  @Nullable Gid portOf(Gid host) {
    return hosts == null ? null : hosts.portOf(host);
  }

  /** Whether a host has moved to another port since the last question. */
  boolean haveMoved() {
    int moves = hosts == null ? 0 : hosts.moves();
    boolean moved = moves != movesSeen;
    movesSeen = moves;
    return moved;
  }

  /** How many queue pairs the bridge has there; none on the wire. */
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

  /** How packets leave for a host there. Null while there is no way yet, which is made then. */
  @Nullable Way way(Gid source, Gid destination, int trafficClass) {
    if (device == null || service == null) {
      return fabric.wayBetween(source, destination, trafficClass);
    }
    Way way = device.readyWay(source, destination);
    if (way == null) {
      service.prepare(source, destination);
    }
    return way;
  }

  /** Ends its service. */
  @Override
  public void close() {
    if (service != null) {
      service.close();
    }
  }
}

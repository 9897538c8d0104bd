package io.heddle.bridge.fabric;

import io.heddle.platform.Memory;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;

/**
 * How packets leave for one address of a fabric: what a send needs of it, made once. Control thread
 * makes it, data thread uses it.
 */
public final class Way {
  static final int NAME_BYTES = 28;
  private static final int AF_INET6 = 10;

  private final Gid destination;
  private final long name;
  private final int trafficClass;
  /* What the headers add to the CRC, by covered length / 4; 0 where not computed yet. */
  private final int[] checksums;

  /**
   * @param arena that the way lives as long as
   * @param mostBytes of a packet
   */
  Way(Arena arena, Gid destination, int port, int interfaceIndex, int trafficClass, int mostBytes) {
    this.destination = destination;
    this.trafficClass = trafficClass;
    checksums = new int[mostBytes / 4 + 1];
    name = Memory.allocate(arena, NAME_BYTES + 4, 8);
    Memory.ALL.set(Memory.NATIVE_SHORT, name, (short) AF_INET6);
    Memory.ALL.set(Memory.NETWORK_SHORT, name + 2, (short) port);
    Memory.ALL.set(Memory.NETWORK_LONG, name + 8, destination.high());
    Memory.ALL.set(Memory.NETWORK_LONG, name + 16, destination.low());
    Memory.setInt(name + 24, interfaceIndex);
  }

  Gid destination() {
    return destination;
  }

  /** Of its sockaddr. */
  long address() {
    return name;
  }

  int trafficClass() {
    return trafficClass;
  }

  int[] checksums() {
    return checksums;
  }
}

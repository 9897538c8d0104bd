package io.heddle.bridge.redundancy;

import static io.heddle.bridge.fabric.FabricSocket.SOL_IP;
import static io.heddle.bridge.fabric.FabricSocket.SOL_IPV6;
import static io.heddle.bridge.fabric.FabricSocket.SOL_SOCKET;
import static io.heddle.bridge.fabric.FabricSocket.set;

import io.heddle.addr.NetworkLink;
import io.heddle.bridge.fabric.FabricSocket;
import io.heddle.bridge.fabric.FabricSpec;
import io.heddle.bridge.fabric.Memberships;
import io.heddle.bridge.peer.PeerSettings;
import io.heddle.platform.HeddleException;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.Memory;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * UDP socket that sends and receives beacons in one fabric. Used by one thread at a time; not
 * time-critical.
 */
public final class BeaconSocket implements AutoCloseable {
  private static final int SO_PRIORITY = 12;
  private static final int IP_TOS = 1;
  private static final int IPV6_TCLASS = 67;
  /* Traffic class of network control, as for routing protocols: CS6 (RFC 4594, section 3.1). */
  private static final int CONTROL_CLASS = 0xc0;
  /* The kernel's priority of network control (TC_PRIO_CONTROL). */
  private static final int CONTROL_PRIORITY = 7;
  private static final long SIOCGIFFLAGS = 0x8913;
  private static final int IFF_UP = 0x1;
  private static final int IFF_RUNNING = 0x40;
  private static final int IFREQ_BYTES = 40;
  private static final int IFREQ_FLAGS = 16;
  private static final int BUFFER_BYTES = 2048;

  private final String interfaceName;
  private final BooleanSupplier hasCarrier;
  private final Arena arena = Arena.ofShared();
  private final int fd;
  private final Memberships memberships;
  private final long buffer;
  private final long header;

  private BeaconSocket(String interfaceName, int interfaceIndex, int fd, BooleanSupplier carries) {
    this.interfaceName = interfaceName;
    this.hasCarrier = carries;
    this.fd = fd;
    memberships = new Memberships(interfaceName, interfaceIndex);
    buffer = Memory.allocate(arena, BUFFER_BYTES, 8);
    header = Memory.allocate(arena, 128, 8);
  }

  /**
   * Opens the socket of an interface, and joins the beacons' group.
   *
   * @param spec fabric of the interface
   * @param ipv4 source address of IPv4 beacons, null for none
   * @param carries returns whether the fabric carries packets; tested in addition to the
   *     interface's state
   * @throws HeddleException if the port is in use, or the group can't be joined
   */
  public static BeaconSocket open(
      FabricSpec spec,
      NetworkLink link,
      @Nullable Gid ipv4,
      PeerSettings settings,
      BooleanSupplier carries) {
    int port = settings.port();
    Gid group = settings.groupOf(ipv4 != null);
    int fd = FabricSocket.open(link.name(), link.index(), ipv4, spec.hops());
    BeaconSocket socket = new BeaconSocket(link.name(), link.index(), fd, carries);
    try {
      set(fd, SOL_IP, IP_TOS, CONTROL_CLASS);
      set(fd, SOL_IPV6, IPV6_TCLASS, CONTROL_CLASS);
      /*
       * Beacons overtake other packets in the interface's queue. Without CAP_NET_ADMIN this has no
       * effect.
       */
      LinuxCalls.setIntOption(fd, SOL_SOCKET, SO_PRIORITY, CONTROL_PRIORITY);
      FabricSocket.bind(
          fd,
          port,
          link.name(),
          String.format(
              Locale.ROOT,
              "UDP port %d of %s is taken, by another bridge of this host; end it, or set port"
                  + " under [redundancy] of all bridges",
              port,
              link.name()));
      socket.memberships.join(group);
      socket.fillHeader(group, port, link.index());
      return socket;
    } catch (RuntimeException failed) {
      socket.close();
      throw failed;
    }
  }

  /**
   * Checks that a fabric has an IPv4 address if beacons need one.
   *
   * @param where interface or device of the fabric
   * @throws HeddleException if it has none
   */
  public static void requireSource(
      FabricSpec spec, String where, @Nullable Gid ipv4, PeerSettings settings) {
    Gid group = settings.groupOf(ipv4 != null);
    if (group.isIpv4Mapped() && ipv4 == null) {
      throw spec.failure(
          "%s, and beacons go to %s; set an IPv6 group under [redundancy] of all bridges",
          where, group);
    }
  }

  /* Fills the struct msghdr, which is followed by its iovec and the destination's sockaddr. */
  private void fillHeader(Gid group, int port, int interfaceIndex) {
    FabricSocket.writeName(header + 80, group, port, group.isIpv4Mapped() ? 0 : interfaceIndex);
    Memory.setLong(header, header + 80);
    Memory.setInt(header + 8, FabricSocket.NAME_BYTES);
    Memory.setLong(header + 16, header + 56);
    Memory.setLong(header + 24, 1);
    Memory.setLong(header + 32, 0);
    Memory.setLong(header + 40, 0);
    Memory.setInt(header + 48, 0);
    Memory.setLong(header + 56, buffer);
  }

  /**
   * Sends a beacon.
   *
   * @return 0, or the errno of the failure
   */
  public int send(byte[] beacon) {
    MemorySegment.copy(MemorySegment.ofArray(beacon), 0, Memory.ALL, buffer, beacon.length);
    Memory.setLong(header + 64, beacon.length);
    long sent = LinuxCalls.sendmsg(LinuxCalls.errnoCapture(), fd, header, 0);
    return sent < 0 ? (int) -sent : 0;
  }

  /**
   * Receives a datagram without waiting.
   *
   * @param into array of at least 2048 bytes
   * @return length of the datagram, or -1 if there is none
   */
  public int receive(byte[] into) {
    long length = LinuxCalls.recv(LinuxCalls.errnoCapture(), fd, buffer, BUFFER_BYTES, 0);
    if (length < 0) {
      return -1;
    }
    MemorySegment.copy(Memory.ALL, buffer, MemorySegment.ofArray(into), 0, length);
    return (int) length;
  }

  /** Returns the descriptor that becomes readable when beacons arrive. */
  public int descriptor() {
    return fd;
  }

  /**
   * Returns whether the fabric carries packets, which requires that the interface is up and has a
   * carrier.
   */
  public boolean isUp() {
    return hasCarrier.getAsBoolean() && interfaceIsUp();
  }

  private boolean interfaceIsUp() {
    byte[] name = interfaceName.getBytes(StandardCharsets.UTF_8);
    Memory.clear(buffer, IFREQ_BYTES);
    MemorySegment.copy(MemorySegment.ofArray(name), 0, Memory.ALL, buffer, name.length);
    int wanted = IFF_UP | IFF_RUNNING;
    return LinuxCalls.ioctl(fd, SIOCGIFFLAGS, buffer) >= 0
        && (Memory.ALL.get(Memory.NATIVE_SHORT, buffer + IFREQ_FLAGS) & wanted) == wanted;
  }

  @Override
  public void close() {
    memberships.close();
    LinuxCalls.close(fd);
    arena.close();
  }
}

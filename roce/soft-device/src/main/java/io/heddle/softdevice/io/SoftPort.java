package io.heddle.softdevice.io;

import io.heddle.addr.AddressFilter;
import io.heddle.addr.AssignedAddress;
import io.heddle.addr.HostAddresses;
import io.heddle.addr.NetworkLink;
import io.heddle.addr.PlaneDiscovery;
import io.heddle.addr.PlaneRules;
import io.heddle.platform.Errno;
import io.heddle.verbs.Gid;
import io.heddle.verbs.GidTable;
import io.heddle.verbs.PathMtu;
import io.heddle.verbs.PortAttributes;
import io.heddle.verbs.VerbsException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Single port of the soft device: it has every usable address of every interface, and the addresses
 * that the operator configured. Each call queries the kernel; control path.
 */
public final class SoftPort {
  private static final long UNKNOWN_SPEED = 10_000_000_000L;

  private final PlaneRules rules;
  private final AddressFilter filter;

  /**
   * Local address.
   *
   * @param scope interface index if the address needs one, otherwise 0
   */
  public record Address(Gid gid, int scope, NetworkLink link) {}

  /**
   * Constant attributes of the device.
   *
   * @param guid GUID derived from the first interface's MAC, or a constant if no interface has one
   * @param pciPath first interface's device in sysfs, or the interface itself if it is virtual
   */
  public record Identity(long guid, String pciPath) {}

  public SoftPort(@Nullable String planes) {
    this(PlaneRules.parse(planes), AddressFilter.NONE);
  }

  public SoftPort(PlaneRules rules, AddressFilter filter) {
    this.rules = rules;
    this.filter = filter;
  }

  public List<Address> addresses() {
    HostAddresses host = HostAddresses.read();
    Map<Gid, Address> found = new LinkedHashMap<>();
    /*
     * The planes' addresses come first. Other addresses follow, since a peer may know only one of
     * those.
     */
    for (var plane : PlaneDiscovery.discover(host, rules, filter).planes()) {
      enter(found, plane.address(), plane.link());
    }
    for (AssignedAddress address : host.usable()) {
      enter(found, address, host.linkOf(address));
    }
    /*
     * Adds IPv4 addresses that are usable because the filter excludes IPv6. They need not be
     * planes' addresses.
     */
    for (AssignedAddress address : host.filteredBy(filter).usable()) {
      enter(found, address, host.linkOf(address));
    }
    return new ArrayList<>(found.values());
  }

  private static void enter(Map<Gid, Address> found, AssignedAddress address, NetworkLink link) {
    Gid gid = Gid.of(address.address());
    found.putIfAbsent(gid, new Address(gid, gid.isLinkLocal() ? link.index() : 0, link));
  }

  /**
   * Returns the address at an index of the GID table.
   *
   * @throws VerbsException for an index that the table doesn't have
   */
  public Address address(int gidIndex) {
    List<Address> addresses = addresses();
    if (gidIndex < 0 || gidIndex >= addresses.size()) {
      throw new VerbsException(
          "modify_qp",
          "soft0, GID index " + gidIndex + " of a table of " + addresses.size(),
          Errno.EINVAL);
    }
    return addresses.get(gidIndex);
  }

  public GidTable gidTable() {
    List<GidTable.Entry> entries = new ArrayList<>();
    for (Address address : addresses()) {
      entries.add(
          new GidTable.Entry(
              entries.size(), address.gid(), GidTable.Type.ROCE_V2, address.link().index()));
    }
    return new GidTable(entries);
  }

  public PortAttributes attributes() {
    PathMtu mtu = PathMtu.MTU_4096;
    Map<Integer, Long> speeds = new LinkedHashMap<>();
    boolean active = false;
    for (Address address : addresses()) {
      active = true;
      mtu = mtu.min(PathMtu.fittingLink(address.link().mtuBytes()));
      long speed = address.link().speedBitsPerSecond();
      speeds.put(address.link().index(), speed == 0 ? UNKNOWN_SPEED : speed);
    }
    long sum = speeds.values().stream().mapToLong(Long::longValue).sum();
    return new PortAttributes(active, 1, mtu, sum == 0 ? UNKNOWN_SPEED : sum);
  }

  /** Returns the constant attributes of an open device. */
  public Identity identity() {
    List<Address> addresses = addresses();
    return new Identity(guid(addresses), pciPath(addresses));
  }

  private static long guid(List<Address> addresses) {
    for (Address address : addresses) {
      String mac = address.link().macAddress();
      if (!mac.isEmpty() && !mac.equals("00:00:00:00:00:00")) {
        long value = Long.parseUnsignedLong(mac.replace(":", ""), 16);
        /* Returns the EUI-64 of the MAC, as in node GUIDs of RDMA devices. */
        return (value >>> 24 << 40 | 0xfffeL << 24 | value & 0xff_ffff) ^ 0x0200_0000_0000_0000L;
      }
    }
    return 0x0200_00ff_fe50_f700L;
  }

  private static String pciPath(List<Address> addresses) {
    for (Address address : addresses) {
      Path netdev = Path.of("/sys/class/net", address.link().name());
      for (Path candidate : List.of(netdev.resolve("device"), netdev)) {
        try {
          if (Files.exists(candidate)) {
            return candidate.toRealPath().toString();
          }
        } catch (IOException vanished) {
          /* The interface has vanished meanwhile, so the next one is tried. */
          continue;
        }
      }
    }
    return "/sys/devices/virtual/net/lo";
  }
}

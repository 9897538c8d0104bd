package io.heddle.bridge.verbs;

import io.heddle.addr.HostAddresses;
import io.heddle.addr.NetworkLink;
import io.heddle.bridge.fabric.FabricPort;
import io.heddle.bridge.fabric.VerbsSpec;
import io.heddle.platform.HeddleException;
import io.heddle.platform.LeakLedger;
import io.heddle.platform.Log;
import io.heddle.platform.NearestName;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.Gid;
import io.heddle.verbs.GidTable;
import io.heddle.verbs.RdmaDevice;
import io.heddle.verbs.VerbsProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;

/**
 * Opened port of libibverbs, with the addresses that the bridge uses.
 *
 * @param ethernet whether the port's link layer is Ethernet; otherwise it is InfiniBand
 * @param own entries of the port's GID table that the bridge uses: on Ethernet only those of RoCEv2
 */
record VerbsPort(DeviceContext context, boolean ethernet, List<GidTable.Entry> own) {
  private static final String PROVIDER = "libibverbs";

  VerbsPort {
    own = List.copyOf(own);
  }

  /**
   * Opens the port of a device.
   *
   * @throws HeddleException if there is no such device or address
   */
  static VerbsPort open(VerbsSpec spec, Log log) {
    DeviceContext context = device(spec, log).open();
    try {
      boolean ethernet = context.port().ethernet();
      List<GidTable.Entry> own =
          ethernet ? own(spec, context.gidTable()) : ofSubnet(spec, context.gidTable());
      return new VerbsPort(context, ethernet, own);
    } catch (RuntimeException refused) {
      context.close();
      throw refused;
    }
  }

  private static RdmaDevice device(VerbsSpec spec, Log log) {
    /* Only the provider's log messages contain the reason why there is no device. */
    List<String> messages = new ArrayList<>();
    Log listening =
        (level, sentence) -> {
          messages.add(sentence);
          log.write(level, sentence);
        };
    List<String> names = new ArrayList<>();
    for (VerbsProvider provider : ServiceLoader.load(VerbsProvider.class)) {
      if (provider.name().equals(PROVIDER)) {
        for (RdmaDevice device : provider.devices(Map.of(), listening, new LeakLedger())) {
          if (device.name().equals(spec.device())) {
            return device;
          }
          names.add(device.name());
        }
      }
    }
    throw spec.failure(
        "there is no device %s%s",
        spec.device(),
        names.isEmpty()
            ? "; there is none at all: " + String.join("; ", messages)
            : NearestName.suggestion(spec.device(), names) + "; there are " + names);
  }

  private static List<GidTable.Entry> own(VerbsSpec spec, GidTable table) {
    List<GidTable.Entry> there = new ArrayList<>();
    for (GidTable.Entry entry : table.entries()) {
      if (entry.type() == GidTable.Type.ROCE_V2) {
        there.add(entry);
      }
    }
    requireProxyAddresses(spec, there);
    there.removeIf(each -> spec.proxyAddresses().contains(each.gid()));
    List<Gid> addresses = there.stream().map(GidTable.Entry::gid).toList();
    for (Gid wanted : spec.addresses()) {
      if (!addresses.contains(wanted)) {
        throw spec.failure("%s has no address %s; it has %s", spec.device(), wanted, addresses);
      }
    }
    if (there.isEmpty()) {
      throw spec.failure(
          "%s has no address of RoCEv2; give its interface one, of IPv4 for IPv4 groups%s",
          spec.device(),
          table.entries().isEmpty() ? "" : ". It has others only, and RoCEv1 isn't bridged");
    }
    return spec.addresses().isEmpty()
        ? there
        : there.stream().filter(each -> spec.addresses().contains(each.gid())).toList();
  }

  /*
   * Returns all GIDs of an InfiniBand port. The configured addresses are IPoIB addresses, so they
   * select none of the GIDs.
   */
  private static List<GidTable.Entry> ofSubnet(VerbsSpec spec, GidTable table) {
    if (table.entries().isEmpty()) {
      throw spec.failure("%s has no GID; check whether the subnet has a manager", spec.device());
    }
    return table.entries();
  }

  /** Returns the libibverbs name of the device, without the port. */
  String deviceName() {
    String name = context.device().name();
    int colon = name.lastIndexOf(':');
    return colon < 0 ? name : name.substring(0, colon);
  }

  int number() {
    return context.port().number();
  }

  /**
   * Checks that the port has the proxy addresses.
   *
   * @throws HeddleException if an address is missing; the message names it
   */
  static void requireProxyAddresses(VerbsSpec spec, List<GidTable.Entry> there) {
    for (Gid each : spec.proxyAddresses()) {
      boolean has =
          there.stream()
              .anyMatch(one -> one.type() == GidTable.Type.ROCE_V2 && one.gid().equals(each));
      if (!has) {
        throw spec.missingProxyAddress(each, "on the interface of its port");
      }
    }
  }

  List<Gid> addresses() {
    return own.stream().map(GidTable.Entry::gid).toList();
  }

  /** Returns the source of packets to IPv4 or IPv6 groups; null if there is none. */
  @Nullable Gid source(boolean ipv4) {
    return ethernet ? FabricPort.firstOf(addresses(), ipv4) : own.getFirst().gid();
  }

  /**
   * Returns the interface of a RoCE port; null if it is in another network namespace. Addresses are
   * compared, since an interface of this namespace may have the same index.
   */
  @Nullable NetworkLink link(HostAddresses host) {
    for (NetworkLink each : host.links()) {
      if (host.addresses().stream()
          .anyMatch(assigned ->
              assigned.interfaceIndex() == each.index()
                  && interfaceOf(Gid.of(assigned.address())) == each.index())) {
        return each;
      }
    }
    return null;
  }

  /* Returns the index of the network interface with this address of the port, 0 if there is none. */
  private int interfaceOf(Gid address) {
    for (GidTable.Entry each : own) {
      if (each.gid().equals(address)) {
        return each.interfaceIndex();
      }
    }
    return 0;
  }
}

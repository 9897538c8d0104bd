package io.heddle.bridge.fabric;

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
 * An opened port of libibverbs, and which of its addresses the bridge uses.
 *
 * @param own entries of its table that are used, RoCEv2's alone
 */
record VerbsPort(DeviceContext context, List<GidTable.Entry> own) {
  private static final String PROVIDER = "libibverbs";

  VerbsPort {
    own = List.copyOf(own);
  }

  /**
   * @throws HeddleException where there is no such device or address
   */
  static VerbsPort open(VerbsSpec spec, Log log) {
    DeviceContext context = device(spec, log).open();
    try {
      return new VerbsPort(context, own(spec, context.gidTable()));
    } catch (RuntimeException refused) {
      context.close();
      throw refused;
    }
  }

  private static HeddleException failure(VerbsSpec spec, String what) {
    return new HeddleException("fabric " + spec.name() + ": " + what);
  }

  private static RdmaDevice device(VerbsSpec spec, Log log) {
    /* Why there is none is told by the provider alone. */
    List<String> said = new ArrayList<>();
    Log listening =
        (level, sentence) -> {
          said.add(sentence);
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
    throw failure(
        spec,
        "there is no device "
            + spec.device()
            + (names.isEmpty()
                ? "; there is none at all: " + String.join("; ", said)
                : NearestName.question(spec.device(), names) + "; there are " + names));
  }

  private static List<GidTable.Entry> own(VerbsSpec spec, GidTable table) {
    List<GidTable.Entry> there = new ArrayList<>();
    for (GidTable.Entry entry : table.entries()) {
      if (entry.type() == GidTable.Type.ROCE_V2) {
        there.add(entry);
      }
    }
    requireStandIns(spec, there);
    there.removeIf(each -> spec.standIns().contains(each.gid()));
    List<Gid> addresses = there.stream().map(GidTable.Entry::gid).toList();
    for (Gid wanted : spec.addresses()) {
      if (!addresses.contains(wanted)) {
        throw failure(spec, spec.device() + " has no address " + wanted + "; it has " + addresses);
      }
    }
    if (there.isEmpty()) {
      throw failure(
          spec,
          spec.device()
              + " has no address of RoCEv2; give its interface one, of IPv4 for IPv4 groups"
              + (table.entries().isEmpty()
                  ? ""
                  : ". It has others only, and InfiniBand or RoCEv1 aren't bridged"));
    }
    return spec.addresses().isEmpty()
        ? there
        : there.stream().filter(each -> spec.addresses().contains(each.gid())).toList();
  }

  /**
   * Looks whether the port has the addresses that stand for hosts.
   *
   * @throws HeddleException that names one that it doesn't have
   */
  static void requireStandIns(VerbsSpec spec, List<GidTable.Entry> there) {
    for (Gid each : spec.standIns()) {
      boolean has =
          there.stream()
              .anyMatch(one -> one.type() == GidTable.Type.ROCE_V2 && one.gid().equals(each));
      if (!has) {
        throw failure(
            spec,
            spec.device()
                + " has no address "
                + each
                + ", which is to stand for a host; ip addr add "
                + each
                + (each.isIpv4Mapped() ? "/32" : "/128")
                + " on the interface of its port");
      }
    }
  }

  List<Gid> addresses() {
    return own.stream().map(GidTable.Entry::gid).toList();
  }

  /** What packets to such groups leave from; of IPv6 one that isn't link-local, if there is one. */
  GidTable.@Nullable Entry source(boolean ipv4) {
    GidTable.Entry first = null;
    for (GidTable.Entry each : own) {
      if (each.gid().isIpv4Mapped() == ipv4 && (first == null || first.gid().isLinkLocal())) {
        first = each;
      }
    }
    return first;
  }

  /** The network interface that has one of its addresses, 0 where none has. */
  int interfaceOf(Gid address) {
    for (GidTable.Entry each : own) {
      if (each.gid().equals(address)) {
        return each.interfaceIndex();
      }
    }
    return 0;
  }
}

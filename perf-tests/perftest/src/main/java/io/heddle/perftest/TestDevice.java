package io.heddle.perftest;

import io.heddle.platform.HeddleException;
import io.heddle.platform.LeakLedger;
import io.heddle.platform.Log;
import io.heddle.platform.NearestName;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.Gid;
import io.heddle.verbs.GidTable;
import io.heddle.verbs.PathMtu;
import io.heddle.verbs.PortAttributes;
import io.heddle.verbs.RdmaDevice;
import io.heddle.verbs.VerbsProvider;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Opened device of a test, with its port, GID and MTU. */
final class TestDevice implements AutoCloseable {
  private static final int SHOWN_GIDS = 8;

  private final DeviceContext context;
  private final Settings.Link link;

  private TestDevice(DeviceContext context, Settings.Link link) {
    this.context = context;
    this.link = link;
  }

  /** Source of a test's devices: the providers, and the environment that selects among them. */
  record Source(
      List<VerbsProvider> providers, Map<String, String> environment, Log log, LeakLedger ledger) {
    /**
     * Returns the devices of the providers that HEDDLE_PROVIDER allows; those of libibverbs come
     * first.
     *
     * @param warnings receives the providers' warnings
     */
    List<RdmaDevice> devices(List<String> warnings) {
      Log kept =
          (level, sentence) -> {
            if (level == Log.Level.WARN) {
              warnings.add(sentence);
            } else {
              log.write(level, sentence);
            }
          };
      String provider = environment.getOrDefault("HEDDLE_PROVIDER", "auto");
      List<RdmaDevice> devices = new ArrayList<>();
      List<String> names = new ArrayList<>(List.of("auto"));
      for (VerbsProvider each :
          providers.stream().sorted(Comparator.comparing(VerbsProvider::name)).toList()) {
        names.add(each.name());
        if (provider.equals("auto") || provider.isBlank() || provider.equals(each.name())) {
          devices.addAll(each.devices(environment, kept, ledger));
        }
      }
      if (!provider.isBlank() && !names.contains(provider)) {
        throw new HeddleException(
            "HEDDLE_PROVIDER=" + provider + " is none of " + String.join(", ", names));
      }
      return devices;
    }
  }

  /**
   * @throws HeddleException if the device is missing, can't be opened, or lacks a requested
   *     property
   */
  static TestDevice open(Settings.Link link, Source source) {
    List<String> warnings = new ArrayList<>();
    List<RdmaDevice> devices = source.devices(warnings);
    String named = link.device();
    requireSome(devices, named, warnings);
    warnings.forEach(warning -> source.log().warn("%s", warning));
    DeviceContext context = named == null ? openFirst(devices) : openNamed(devices, named);
    TestDevice device = new TestDevice(context, link);
    try {
      device.requirePort();
      device.requestedMtu();
      device.lane();
      return device;
    } catch (RuntimeException unfit) {
      context.close();
      throw unfit;
    }
  }

  /*
   * Fails if there is no device. If a warning explains the missing device, the message has only the
   * warning.
   */
  private static void requireSome(
      List<RdmaDevice> devices, @Nullable String named, List<String> warnings) {
    List<String> reasons =
        warnings.stream().filter(each -> named == null || each.contains(named)).toList();
    boolean there =
        devices.stream().anyMatch(device -> named == null || device.name().equals(named));
    if (!there && !reasons.isEmpty()) {
      throw new HeddleException(String.join("; ", reasons));
    }
    if (devices.isEmpty()) {
      throw new HeddleException(
          "there is no RDMA device: HEDDLE_PROVIDER=soft selects the software device");
    }
  }

  private static DeviceContext openNamed(List<RdmaDevice> devices, String name) {
    for (RdmaDevice device : devices) {
      if (device.name().equals(name)) {
        return device.open();
      }
    }
    List<String> names = devices.stream().map(RdmaDevice::name).toList();
    throw new HeddleException(
        "-d %s: there is no such device; devices: %s; did you mean %s?"
            .formatted(name, String.join(", ", names), NearestName.of(name, names)));
  }

  /* Opens the first device that has a GID: a test can't use a device without one. */
  private static DeviceContext openFirst(List<RdmaDevice> devices) {
    @Nullable HeddleException refusal = null;
    for (RdmaDevice device : devices) {
      try {
        DeviceContext context = device.open();
        if (!context.gidTable().entries().isEmpty()) {
          return context;
        }
        context.close();
      } catch (HeddleException refused) {
        refusal = refusal == null ? refused : refusal;
      }
    }
    throw refusal != null
        ? refusal
        : new HeddleException(
            "no device has a GID ("
                + devices.stream().map(RdmaDevice::name).collect(Collectors.joining(", "))
                + "): give an interface a global IPv6 address, or name one with HEDDLE_PLANES");
  }

  DeviceContext context() {
    return context;
  }

  String name() {
    return context.device().name();
  }

  private void requirePort() {
    PortAttributes port = context.port();
    if (link.port() != port.number()) {
      throw new HeddleException(
          "-i %s: device %s has no such port; its port is %s"
              .formatted(link.port(), name(), port.number()));
    }
    if (!port.active()) {
      throw new HeddleException(
          "port %s of device %s is down: see ip link, and whether an interface has an address"
              .formatted(port.number(), name()));
    }
  }

  /** Returns the MTU that this end proposes. */
  PathMtu requestedMtu() {
    PathMtu active = context.port().activeMtu();
    if (link.mtuBytes() == 0) {
      return active;
    }
    for (PathMtu mtu : PathMtu.values()) {
      if (mtu.bytes() == link.mtuBytes()) {
        return mtu.min(active);
      }
    }
    throw new HeddleException(
        "-m " + link.mtuBytes() + ": an MTU is one of 256, 512, 1024, 2048 and 4096");
  }

  /**
   * Returns the {@link Lane} of the GID that option {@code -x} names; without the option, that of
   * the best GID.
   */
  Lane lane() {
    List<GidTable.Entry> entries = context.gidTable().entries();
    if (link.gidIndex() != Settings.NO_GID_INDEX) {
      return entries.stream()
          .filter(entry -> entry.index() == link.gidIndex())
          .findFirst()
          .map(TestDevice::lane)
          .orElseThrow(() ->
              new HeddleException(
                  "-x %s: device %s has no GID at that index; it has %s"
                      .formatted(link.gidIndex(), name(), text(entries))));
    }
    return entries.stream()
        .max(Comparator.comparingInt(this::merit).thenComparing(entry -> -entry.index()))
        .map(TestDevice::lane)
        .orElseThrow(() ->
            new HeddleException(
                "device "
                    + name()
                    + " has no GID: give its interface a global address, see heddle planes"));
  }

  /*
   * Ranks GIDs as perftest does: RoCE v2 first, no link-local addresses, IPv4 before IPv6 by
   * default.
   */
  private int merit(GidTable.Entry entry) {
    boolean wantedFamily = entry.gid().isIpv4Mapped() != link.preferIpv6();
    return (entry.type() == GidTable.Type.ROCE_V2 ? 4 : 0)
        + (entry.gid().isLinkLocal() ? 0 : 2)
        + (wantedFamily ? 1 : 0);
  }

  private static Lane lane(GidTable.Entry entry) {
    return new Lane("", entry.gid(), entry.index());
  }

  private static String text(List<GidTable.Entry> entries) {
    String some =
        entries.stream()
            .limit(SHOWN_GIDS)
            .map(entry -> entry.index() + " (" + entry.gid() + ")")
            .collect(Collectors.joining(", "));
    return entries.isEmpty()
        ? "none"
        : entries.size() > SHOWN_GIDS
            ? some + " and " + (entries.size() - SHOWN_GIDS) + " more"
            : some;
  }

  /**
   * Returns the {@link Lane} of a plane's address.
   *
   * @return the lane, or null if the device doesn't have the address
   */
  @Nullable Lane laneOf(String key, Gid gid) {
    java.util.OptionalInt index = context.gidTable().indexOf(gid);
    return index.isPresent() ? new Lane(key, gid, index.getAsInt()) : null;
  }

  /** Returns "IB" or "Ethernet", which are perftest's names. */
  String linkType() {
    return context.gidTable().entries().stream()
            .anyMatch(entry -> entry.type() == GidTable.Type.INFINIBAND)
        ? "IB"
        : "Ethernet";
  }

  @Override
  public void close() {
    context.close();
  }
}

package io.heddle.transport.device;

import io.heddle.addr.HostPlanes;
import io.heddle.addr.Plane;
import io.heddle.platform.HeddleException;
import io.heddle.platform.LeakLedger;
import io.heddle.platform.Log;
import io.heddle.platform.NanoClock;
import io.heddle.platform.Options;
import io.heddle.spray.PlaneWeights;
import io.heddle.transport.options.HcaSelection;
import io.heddle.transport.options.InfinibandOptions;
import io.heddle.transport.options.TransportOptions;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.Gid;
import io.heddle.verbs.GidTable;
import io.heddle.verbs.PathMtu;
import io.heddle.verbs.PortAttributes;
import io.heddle.verbs.RdmaDevice;
import io.heddle.verbs.VerbsException;
import io.heddle.verbs.VerbsProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Search for devices: picks the provider, opens its devices and assigns planes to them. */
public final class DeviceSearch {
  private static final long ALL_INDEXES = -1;

  private final Options options;
  private final Map<String, String> environment;
  private final LeakLedger ledger;
  private final NanoClock clock;
  private final Log log;
  private final List<VerbsProvider> providers;
  private String provider = "";
  private Supplier<HostPlanes> currentPlanes;

  /**
   * @param providers candidates; the first by name that has a device is used
   */
  public DeviceSearch(
      Options options,
      Map<String, String> environment,
      LeakLedger ledger,
      NanoClock clock,
      Log log,
      List<VerbsProvider> providers) {
    this.clock = clock;
    this.providers = new ArrayList<>(providers);
    this.options = options;
    this.environment = environment;
    this.ledger = ledger;
    this.log = log;
    currentPlanes =
        () -> {
          throw new IllegalStateException("no device is open yet");
        };
  }

  /** Returns the name of the provider in use. */
  public String provider() {
    return provider;
  }

  /**
   * Opens every device that carries a plane, of the first provider that has one: libibverbs before
   * soft. Logs one line with the reason where the first candidate isn't used.
   *
   * @param planes the host's planes at present
   * @param currentPlanes source of the host's planes at later times
   * @throws HeddleException when no provider has such a device, with each provider's reason
   */
  public List<NetDevice> open(HostPlanes planes, Supplier<HostPlanes> currentPlanes) {
    this.currentPlanes = currentPlanes;
    HcaSelection selection = HcaSelection.parse(options.get(InfinibandOptions.HCA));
    selection.remarks().forEach(remark -> log.warn("%s", remark));
    String wish = options.get(TransportOptions.PROVIDER);
    List<String> reasons = new ArrayList<>();
    List<String> leftOut = new ArrayList<>();
    providers.sort((left, right) -> left.name().compareTo(right.name()));
    for (VerbsProvider candidate : providers) {
      if (!wish.equals("auto") && !wish.equals(candidate.name())) {
        continue;
      }
      DeferredLog kept = new DeferredLog(log);
      List<NetDevice> devices = open(candidate, planes, selection, kept, leftOut);
      if (!devices.isEmpty()) {
        kept.release();
        if (!reasons.isEmpty()) {
          log.info("using the %s device: %s", candidate.name(), String.join("; ", reasons));
        }
        provider = candidate.name();
        return sorted(devices);
      }
      reasons.add(
          kept.sentences().isEmpty()
              ? candidate.name() + " has no devices"
              : String.join("; ", kept.sentences()));
    }
    if (!leftOut.isEmpty()) {
      throw new HeddleException(selection.noneOf(leftOut));
    }
    throw new HeddleException(
        "no RDMA device carries an address of a plane (HEDDLE_PROVIDER=%s): %s"
            .formatted(
                wish,
                reasons.isEmpty()
                    ? "this build has no provider of that name"
                    : String.join("; ", reasons)));
  }

  /*
   * Opens the candidate's devices that carry planes. If a failure ends the search, the devices
   * opened before are closed.
   */
  private List<NetDevice> open(
      VerbsProvider candidate,
      HostPlanes planes,
      HcaSelection selection,
      Log kept,
      List<String> leftOut) {
    List<NetDevice> devices = new ArrayList<>();
    boolean found = false;
    try {
      for (RdmaDevice device : candidate.devices(environment, kept, ledger)) {
        NetDevice net = open(device, planes, selection, kept, leftOut);
        if (net != null) {
          devices.add(net);
        }
      }
      found = true;
    } finally {
      if (!found) {
        devices.forEach(NetDevice::close);
      }
    }
    return devices;
  }

  /*
   * Opens a device; returns null if it isn't used. A device that can't be opened or queried is
   * skipped: another one may carry the planes.
   */
  private @Nullable NetDevice open(
      RdmaDevice device,
      HostPlanes planes,
      HcaSelection selection,
      Log kept,
      List<String> leftOut) {
    DeviceContext context = null;
    NetDevice net = null;
    try {
      context = device.open();
      PortAttributes port = context.port();
      if (selection.includes(device.name(), port.number())) {
        net = withPlanes(context, port, planes, selection, kept);
      } else {
        kept.info("device %s is left out by NCCL_IB_HCA=%s", device.name(), selection.text());
        leftOut.add(device.name());
      }
    } catch (VerbsException refused) {
      log.warn("device %s is not used: %s", device.name(), String.valueOf(refused.getMessage()));
    } finally {
      if (net == null && context != null) {
        context.close();
      }
    }
    return net;
  }

  private List<NetDevice> sorted(List<NetDevice> devices) {
    if (options.get(InfinibandOptions.PCI_ORDER) == 1) {
      devices.sort(DeviceOrder::compare);
    }
    return devices;
  }

  private @Nullable NetDevice withPlanes(
      DeviceContext context,
      PortAttributes port,
      HostPlanes planes,
      HcaSelection selection,
      Log kept) {
    String name = context.device().name();
    GidTable gids = context.gidTable();
    List<LocalPlane> carried = new ArrayList<>();
    List<Plane> found =
        planes.of(name, address -> gids.indexOf(Gid.of(address)).isPresent()).planes();
    long index = wantedIndex(name, gids, found);
    for (Plane plane : found) {
      Gid gid = Gid.of(plane.address().address());
      if (accepts(name, gids, index, plane, gid, kept)) {
        kept.info(
            "plane %s: %s on %s of %s, %s",
            plane.key(), plane.address(), plane.link().name(), name, plane.reason());
        PathMtu mtu = PathMtu.fittingLink(plane.link().mtuBytes()).min(port.activeMtu());
        carried.add(
            new LocalPlane(
                plane.key(),
                plane.ownKey(),
                gid,
                plane.address().prefixLength(),
                mtu,
                plane.link().name()));
      }
    }
    if (carried.isEmpty()) {
      kept.info(
          "device %s carries no plane: its addresses are %s",
          name, gids.entries().stream().map(GidTable.Entry::gid).distinct().toList());
      return null;
    }
    PlaneWeights weights =
        PlaneWeights.parse(
            options.get(TransportOptions.WEIGHTS), carried.stream().map(LocalPlane::key).toList());
    int rail = selection.rail(name, port.number());
    MemoryTable.Rules rules =
        new MemoryTable.Rules(
            options.get(InfinibandOptions.RELAXED_ORDERING) != 0,
            options.get(InfinibandOptions.FLUSH_DISABLE) == 0);
    PlaneAddresses addresses = new PlaneAddresses(context, currentPlanes, index, carried, log);
    return new NetDevice(context, addresses, weights, rail, rules, clock);
  }

  /*
   * Returns the GID index that planes must have; negative for any. Job templates may set an index
   * meant for other adapters. Where it matches no plane, all planes are used.
   */
  private long wantedIndex(String device, GidTable gids, List<Plane> planes) {
    long wanted = options.get(InfinibandOptions.GID_INDEX);
    if (wanted < 0 || planes.isEmpty()) {
      return wanted;
    }
    List<Integer> indexes =
        planes.stream()
            .map(plane -> gids.indexOf(Gid.of(plane.address().address())))
            .flatMapToInt(OptionalInt::stream)
            .boxed()
            .toList();
    if (indexes.contains((int) wanted)) {
      return wanted;
    }
    log.warn(
        "%s=%d matches no plane of device %s, whose planes have indexes %s: all planes are used;"
            + " unset it, since an index means another address on each host",
        InfinibandOptions.GID_INDEX.name(), wanted, device, indexes);
    return ALL_INDEXES;
  }

  private static boolean accepts(
      String device, GidTable gids, long wanted, Plane plane, Gid gid, Log kept) {
    OptionalInt index = gids.indexOf(gid);
    if (index.isPresent() && wanted >= 0 && index.getAsInt() != wanted) {
      kept.info(
          "plane %s of device %s is left out by NCCL_IB_GID_INDEX=%d: its address %s has index %d",
          plane.key(), device, wanted, gid, index.getAsInt());
      return false;
    }
    return index.isPresent();
  }
}

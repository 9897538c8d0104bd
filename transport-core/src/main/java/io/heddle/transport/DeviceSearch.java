package io.heddle.transport;

import io.heddle.addr.Plane;
import io.heddle.platform.HeddleException;
import io.heddle.platform.LeakLedger;
import io.heddle.platform.Log;
import io.heddle.platform.Options;
import io.heddle.transport.spray.PlaneWeights;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.Gid;
import io.heddle.verbs.PathMtu;
import io.heddle.verbs.RdmaDevice;
import io.heddle.verbs.VerbsProvider;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** Finds the provider, opens its devices, and lays the planes over them. */
final class DeviceSearch {
  private final Options options;
  private final Map<String, String> environment;
  private final LeakLedger ledger;
  private final Log log;
  private final List<VerbsProvider> providers;
  private String provider = "";

  /**
   * @param providers those to choose from; the first by name that has a device is taken
   */
  DeviceSearch(
      Options options,
      Map<String, String> environment,
      LeakLedger ledger,
      Log log,
      List<VerbsProvider> providers) {
    this.providers = new ArrayList<>(providers);
    this.options = options;
    this.environment = environment;
    this.ledger = ledger;
    this.log = log;
  }

  /** Name of the provider that was taken. */
  String provider() {
    return provider;
  }

  /**
   * Opens every device that carries a plane, of the first provider that has one: libibverbs before
   * soft.
   *
   * @throws HeddleException when no provider has such a device
   */
  List<NetDevice> open(List<Plane> planes) {
    HcaSelection selection = HcaSelection.parse(options.get(InfinibandOptions.HCA));
    String wish = options.get(TransportOptions.PROVIDER);
    List<String> asked = new ArrayList<>();
    List<String> leftOut = new ArrayList<>();
    providers.sort(Comparator.comparing(VerbsProvider::name));
    for (VerbsProvider candidate : providers) {
      if (!wish.equals("auto") && !wish.equals(candidate.name())) {
        continue;
      }
      asked.add(candidate.name());
      List<NetDevice> devices = new ArrayList<>();
      for (RdmaDevice device : candidate.devices(environment, log, ledger)) {
        DeviceContext context = device.open();
        NetDevice net = null;
        if (selection.takes(device.name(), context.port().number())) {
          net = withPlanes(context, planes, selection);
        } else {
          log.info("device %s is left out by NCCL_IB_HCA=%s", device.name(), selection.text());
          leftOut.add(device.name());
        }
        if (net == null) {
          context.close();
        } else {
          devices.add(net);
        }
      }
      if (!devices.isEmpty()) {
        provider = candidate.name();
        return inOrder(devices);
      }
    }
    throw new HeddleException(
        leftOut.isEmpty()
            ? "no RDMA device carries an address of a plane (HEDDLE_PROVIDER=%s, this build asked %s)"
                .formatted(wish, asked)
            : selection.noneOf(leftOut));
  }

  private List<NetDevice> inOrder(List<NetDevice> devices) {
    if (options.get(InfinibandOptions.PCI_ORDER) == 1) {
      devices.sort(Comparator.comparing(device -> device.context().attributes().pciPath()));
    }
    return devices;
  }

  private @Nullable NetDevice withPlanes(
      DeviceContext context, List<Plane> planes, HcaSelection selection) {
    String name = context.device().name();
    PathMtu portMtu = context.port().activeMtu();
    List<LocalPlane> carried = new ArrayList<>();
    for (Plane plane : planes) {
      Gid gid = Gid.of(plane.address().address());
      if (isTaken(context, plane, gid)) {
        PathMtu mtu = PathMtu.fittingLink(plane.link().mtuBytes()).min(portMtu);
        carried.add(new LocalPlane(plane.key(), gid, mtu, plane.link().name()));
      }
    }
    if (carried.isEmpty()) {
      log.info("device %s carries no plane and is not used", name);
      return null;
    }
    PlaneWeights weights =
        PlaneWeights.parse(
            options.get(TransportOptions.WEIGHTS), carried.stream().map(LocalPlane::key).toList());
    int rail = selection.rail(name, context.port().number());
    return new NetDevice(context, carried, weights, rail);
  }

  private boolean isTaken(DeviceContext context, Plane plane, Gid gid) {
    OptionalInt index = context.gidTable().indexOf(gid);
    long wanted = options.get(InfinibandOptions.GID_INDEX);
    if (index.isPresent() && wanted >= 0 && index.getAsInt() != wanted) {
      log.info(
          "plane %s of device %s is left out by NCCL_IB_GID_INDEX=%d: its address %s has index %d",
          plane.key(), context.device().name(), wanted, gid, index.getAsInt());
      return false;
    }
    return index.isPresent();
  }
}

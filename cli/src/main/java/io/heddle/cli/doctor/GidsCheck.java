package io.heddle.cli.doctor;

import io.heddle.addr.AddressText;
import io.heddle.addr.Plane;
import io.heddle.verbs.Gid;
import io.heddle.verbs.GidTable;
import java.util.ArrayList;
import java.util.List;

/** Check of the GID tables of RDMA devices. */
final class GidsCheck implements Check {
  private static final Cause LINK_LOCAL =
      new Cause("gid-link-local", "a device has no routable RoCEv2 address, only link-local ones");
  private static final Cause MISSING =
      new Cause(
          "gid-missing",
          "a plane's address is in no device's GID table: the table is stale, or no RDMA port has"
              + " it");
  private static final Cause SPARSE =
      new Cause(
          "gid-table-sparse",
          "a device's GID table has holes, at which NCCL's own transport ends its search");
  private static final Cause INDEX =
      new Cause(
          "gid-index-fixed",
          "NCCL_IB_GID_INDEX is set, although an index means another address on each host and"
              + " device");

  @Override
  public String name() {
    return "gids";
  }

  @Override
  public String summary() {
    return "The GID tables of RDMA devices: whether each plane's address is present, and which"
        + " addresses NCCL_IB_GID_INDEX selects.";
  }

  @Override
  public List<Cause> causes() {
    return List.of(LINK_LOCAL, MISSING, SPARSE, INDEX);
  }

  @Override
  public List<Finding> run(Host host) {
    List<Finding> findings = new ArrayList<>();
    List<HostDevices.Device> hardware = host.devices().hardware();
    for (HostDevices.Device device : hardware) {
      checkDevice(device, findings);
    }
    if (!hardware.isEmpty()) {
      for (Plane plane : host.planes().planes()) {
        Gid gid = Gid.of(plane.address().address());
        if (hardware.stream().allMatch(device -> device.gids().indexOf(gid).isEmpty())) {
          findings.add(
              new Finding.Warning(
                  MISSING,
                  "%s of %s is in no GID table of %s"
                      .formatted(
                          AddressText.of(plane.address().address()),
                          plane.key(),
                          hardware.stream().map(HostDevices.Device::name).toList()),
                  "check whether "
                      + plane.link().name()
                      + " belongs to an RDMA port (rdma link); after"
                      + " a flap, remove and add the address"));
        }
      }
    }
    index(host, hardware, findings);
    return findings;
  }

  private static void checkDevice(HostDevices.Device device, List<Finding> findings) {
    List<GidTable.Entry> routable =
        device.gids().entries().stream()
            .filter(entry -> entry.type() == GidTable.Type.ROCE_V2 && !entry.gid().isLinkLocal())
            .toList();
    if (routable.isEmpty()) {
      findings.add(
          new Finding.Fault(
              LINK_LOCAL,
              device.name() + " has " + described(device.gids().entries()),
              "assign a global IPv6 address to its interface; the leaf must advertise a"
                  + " prefix"));
    } else {
      findings.add(new Finding.Ok(device.name() + ": " + described(routable)));
    }
    int next = 0;
    for (GidTable.Entry entry : device.gids().entries()) {
      if (entry.index() != next) {
        findings.add(
            new Finding.Warning(
                SPARSE,
                "%s has nothing at index %s, and %s at %s"
                    .formatted(device.name(), next, entry.gid(), entry.index()),
                "no change for Heddle, which reads on; NCCL's own transport would miss the"
                    + " entries behind"));
        return;
      }
      next = entry.index() + 1;
    }
  }

  private static String described(List<GidTable.Entry> entries) {
    return entries.isEmpty()
        ? "no address"
        : String.join(
            ", ",
            entries.stream()
                .map(entry -> entry.index() + ": " + entry.gid() + " " + entry.type())
                .toList());
  }

  private static void index(Host host, List<HostDevices.Device> hardware, List<Finding> findings) {
    String text = host.setting("NCCL_IB_GID_INDEX");
    if (text.isEmpty() || text.equals("-1")) {
      return;
    }
    List<String> chosen = new ArrayList<>();
    for (HostDevices.Device device : hardware) {
      chosen.add(
          device.name()
              + " has "
              + device.gids().entries().stream()
                  .filter(entry -> text.equals(Integer.toString(entry.index())))
                  .map(entry -> entry.gid() + " (" + entry.type() + ")")
                  .findFirst()
                  .orElse("nothing")
              + " there");
    }
    findings.add(
        new Finding.Warning(
            INDEX,
            "NCCL_IB_GID_INDEX="
                + text
                + (chosen.isEmpty() ? "" : ": " + String.join("; ", chosen)),
            "unset it: Heddle finds addresses by plane and ignores the index; NCCL's own"
                + " transport would use it"));
  }
}

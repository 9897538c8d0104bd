package io.heddle.cli.doctor;

import io.heddle.verbs.DeviceTrial;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Check of verbs devices and their ports. */
final class DevicesCheck implements Check {
  private static final Cause NONE =
      new Cause("no-device", "HEDDLE_PROVIDER=libibverbs, and libibverbs has no device");
  private static final Cause REFUSED =
      new Cause("device-refused", "a device can't be opened or queried");
  private static final Cause DOWN = new Cause("port-down", "a device's port isn't active");
  private static final Cause SLOWED =
      new Cause("device-slowed", "this host lacks a facility that makes a device faster");
  private static final Cause SELECTION =
      new Cause("hca-names-nothing", "NCCL_IB_HCA matches no device of this host");

  @Override
  public String name() {
    return "devices";
  }

  @Override
  public String summary() {
    return "Verbs devices of libibverbs and of the soft provider, their ports, whether the soft"
        + " device sends without a copy (tried on the loopback interface), and NCCL_IB_HCA.";
  }

  @Override
  public List<Cause> causes() {
    return List.of(NONE, REFUSED, DOWN, SLOWED, SELECTION);
  }

  @Override
  public List<Finding> run(Host host) {
    List<Finding> findings = new ArrayList<>();
    List<HostDevices.Device> hardware = host.devices().hardware();
    for (String sentence : host.devices().statements()) {
      findings.add(new Finding.Ok(sentence));
    }
    for (String sentence : host.devices().refused()) {
      findings.add(
          new Finding.Warning(
              REFUSED,
              sentence,
              "check dmesg, rdma link, and the permissions of /dev/infiniband/uverbs*"));
    }
    if (hardware.isEmpty()) {
      findings.add(
          host.setting("HEDDLE_PROVIDER").equals(HostDevices.LIBIBVERBS)
              ? new Finding.Fault(
                  NONE,
                  "HEDDLE_PROVIDER=libibverbs: " + String.join("; ", reasons(host.devices())),
                  "load the driver (rdma link shows devices); or unset HEDDLE_PROVIDER")
              : new Finding.Ok("no RDMA device: the soft device carries the planes over UDP"));
    }
    boolean softIsWanted = host.setting("HEDDLE_PROVIDER").equals("soft");
    boolean allDown = hardware.stream().noneMatch(device -> device.port().active());
    for (HostDevices.Device device : host.devices().devices()) {
      String what =
          String.format(
              Locale.ROOT,
              "%s of %s: port %d %s, MTU %d, %.0f Gbit/s",
              device.name(),
              device.provider(),
              device.port().number(),
              device.port().active() ? "active" : "down",
              device.port().activeMtu().bytes(),
              device.port().speedBitsPerSecond() / 1e9);
      if (device.port().active() || !device.isHardware()) {
        findings.add(new Finding.Ok(what));
      } else {
        String remedy = "check the cable, the switch port, and ip link of its interface";
        findings.add(
            allDown
                ? new Finding.Fault(DOWN, what, remedy)
                : new Finding.Warning(DOWN, what, remedy));
      }
      boolean idle = !device.isHardware() && !hardware.isEmpty() && !softIsWanted;
      device.trials().forEach(trial -> findings.add(of(trial, idle)));
    }
    selection(host.setting("NCCL_IB_HCA"), host.devices().devices(), findings);
    return findings;
  }

  /*
   * Returns the finding about a device's trial of a fast path. A slower path of a device that no
   * job uses is no warning.
   */
  private static Finding of(DeviceTrial trial, boolean idle) {
    return switch (trial.verdict()) {
      case WORKS -> new Finding.Ok(trial.sentence());
      case SLOWER ->
          idle
              ? new Finding.Ok(trial.sentence() + "; an RDMA device carries the planes here")
              : new Finding.Warning(SLOWED, trial.sentence(), trial.remedy());
      case UNTRIED -> new Finding.Unknown(trial.sentence());
    };
  }

  private static List<String> reasons(HostDevices devices) {
    return devices.refused().isEmpty() ? devices.statements() : devices.refused();
  }

  /* Checks whether NCCL_IB_HCA matches a device. NCCL's syntax is [^][=]name[:port],… */
  private static void selection(
      String text, List<HostDevices.Device> devices, List<Finding> findings) {
    if (text.isEmpty()) {
      return;
    }
    boolean excludes = text.startsWith("^");
    String rest = excludes ? text.substring(1) : text;
    boolean exact = rest.startsWith("=");
    List<String> names = new ArrayList<>();
    for (String part : rest.substring(exact ? 1 : 0).split(",")) {
      names.add(part.strip().split(":", 2)[0]);
    }
    List<String> taken = new ArrayList<>();
    for (HostDevices.Device device : devices) {
      String name = device.name().split(":", 2)[0];
      boolean named =
          names.stream().anyMatch(each -> exact ? name.equals(each) : name.startsWith(each));
      if (named != excludes) {
        taken.add(device.name());
      }
    }
    findings.add(
        taken.isEmpty()
            ? new Finding.Fault(
                SELECTION,
                "NCCL_IB_HCA="
                    + text
                    + " matches none of "
                    + devices.stream().map(HostDevices.Device::name).toList(),
                "unset it, or name devices of this host")
            : new Finding.Ok("NCCL_IB_HCA=" + text + " matches " + taken));
  }
}

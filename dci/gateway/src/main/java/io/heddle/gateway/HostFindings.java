package io.heddle.gateway;

import io.heddle.addr.HostAddresses;
import io.heddle.addr.NetworkLink;
import io.heddle.gateway.config.GatewayConfig;
import io.heddle.gateway.config.ListConfig;
import io.heddle.gateway.config.TelemetryConfig;
import io.heddle.gateway.dataplane.DataPlane;
import io.heddle.platform.FileFailure;
import io.heddle.platform.HeddleException;
import io.heddle.platform.NearestName;
import java.io.IOException;
import java.net.Inet4Address;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Check of a host for the requirements of a gateway, and setter of a kernel setting. */
public final class HostFindings {
  private static final Path SYSCTL = Path.of("/proc/sys/net");
  private static final String FLOW_LABEL = "ipv6/seg6_flowlabel";

  private HostFindings() {}

  static Optional<NetworkLink> link(HostAddresses host, String name) {
    return host.links().stream().filter(each -> each.name().equals(name)).findFirst();
  }

  /** Returns a sentence with a remedy for each fault that keeps this gateway from working here. */
  public static List<String> faults(GatewayConfig config) {
    List<String> faults = new ArrayList<>();
    DataPlane.refusal().ifPresent(faults::add);
    HostAddresses host = HostAddresses.read();
    List<String> names = host.links().stream().map(NetworkLink::name).toList();
    for (String lan : config.lan()) {
      if (!names.contains(lan)) {
        faults.add("there is no interface " + lan + NearestName.suggestion(lan, names));
      }
    }
    for (ListConfig list : config.lists().toList()) {
      if (!names.contains(list.device())) {
        faults.add(
            "list "
                + list.name()
                + ": there is no interface "
                + list.device()
                + NearestName.suggestion(list.device(), names));
      }
    }
    if (!isOn("ipv6/conf/all/forwarding")) {
      faults.add("IPv6 forwarding is off: sysctl -w net.ipv6.conf.all.forwarding=1");
    }
    boolean ipv4 =
        config.policies().stream()
            .flatMap(each -> each.destinations().stream())
            .anyMatch(each -> each.address() instanceof Inet4Address);
    if (ipv4 && !isOn("ipv4/ip_forward")) {
      faults.add("IPv4 forwarding is off: sysctl -w net.ipv4.ip_forward=1");
    }
    if (!Files.exists(SYSCTL.resolve(FLOW_LABEL))) {
      faults.add("the kernel has no SRv6 (CONFIG_IPV6_SEG6_LWTUNNEL)");
    }
    TelemetryConfig telemetry = config.telemetry();
    if (telemetry != null) {
      try {
        telemetry.files().server();
      } catch (HeddleException unfit) {
        faults.add(String.valueOf(unfit.getMessage()));
      }
    }
    return faults;
  }

  private static boolean isOn(String sysctl) {
    try {
      return !Files.readString(SYSCTL.resolve(sysctl)).strip().equals("0");
    } catch (IOException unreadable) {
      return false;
    }
  }

  /**
   * Makes the kernel derive outer flow labels from packet hashes.
   *
   * @throws HeddleException if the setting can't be written
   */
  static void enableFlowLabels() {
    try {
      Files.writeString(SYSCTL.resolve(FLOW_LABEL), "1\n");
    } catch (IOException refused) {
      throw new HeddleException(
          "net.ipv6.seg6_flowlabel can't be set: " + FileFailure.reason(refused), refused);
    }
  }
}

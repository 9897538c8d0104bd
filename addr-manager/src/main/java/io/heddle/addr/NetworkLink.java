package io.heddle.addr;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;

/**
 * Network interface.
 *
 * @param index the kernel's number of the interface in this namespace, from 1
 * @param mtuBytes largest IP packet, in bytes
 * @param administrativelyUp whether the interface was set up (IFF_UP)
 * @param carrier whether the interface's lower layer is up (IFLA_CARRIER)
 * @param loopback whether this is the loopback interface
 * @param macAddress MAC address such as {@code 02:00:00:00:01:01}; empty if there is none
 * @param parentIndex index of the interface below this one (of a VLAN or macvlan); 0 if there is
 *     none; negated if the interface below is in another namespace. A veth's peer isn't a parent
 * @param kind the kernel's name for the type of a virtual interface ({@code veth}, {@code vlan},
 *     {@code bridge}), empty for hardware
 */
public record NetworkLink(
    int index,
    String name,
    int mtuBytes,
    boolean administrativelyUp,
    boolean carrier,
    boolean loopback,
    String macAddress,
    int parentIndex,
    String kind) {
  private static final Path SYSFS = Path.of("/sys/class/net");

  /* Default interface names of container engines, cluster network plugins and hypervisors. */
  private static final Pattern CONTAINERS =
      Pattern.compile(
          String.join(
              "|",
              "docker.*",
              "br-[0-9a-f]{12}",
              "veth[0-9a-f]{6,}",
              "podman[0-9]+",
              "cni-?podman[0-9]+",
              "nerdctl[0-9]+",
              "lxc.*",
              "lxdbr[0-9]+",
              "virbr[0-9].*",
              "cni[0-9]+",
              "cbr[0-9]+",
              "flannel[.-].*",
              "kube-.*",
              "nodelocaldns",
              "cali.*",
              "vxlan(-v6)?\\.calico",
              "wireguard\\.cali",
              "wg-v6\\.cali",
              "tunl0",
              "cilium_.*",
              "weave",
              "antrea-.*",
              "ovn-k8s-.*"));

  /**
   * Returns whether the interface's name is typical of container engines, cluster networks or
   * virtual machines. Such an interface is a bridge with the same address on every host, a tunnel
   * over the fabric, or the host's end of a container's link. Docker's names have a long hex
   * number, so {@code veth0} or {@code br-lan}, which an operator may have chosen, don't count.
   */
  public boolean isContainerInterface() {
    return CONTAINERS.matcher(name).matches();
  }

  /** Returns whether the interface can carry traffic: it was set up, and its lower layer is up. */
  public boolean isUp() {
    return administrativelyUp && carrier;
  }

  /**
   * Returns the current speed from sysfs; 0 if it is unknown. The speed isn't part of the record,
   * since it takes two file reads and few callers need it.
   */
  public long speedBitsPerSecond() {
    /* Reading speed fails with EINVAL on a link that is down. */
    try {
      return isInSysfs()
          ? Math.max(0, Long.parseLong(Files.readString(folder().resolve("speed")).strip()))
              * 1_000_000
          : 0;
    } catch (IOException | NumberFormatException saysNothing) {
      return 0;
    }
  }

  /** Returns the name of the interface's device driver from sysfs; empty if there is no device. */
  public String driver() {
    try {
      return isInSysfs()
          ? Files.readSymbolicLink(folder().resolve("device/driver")).getFileName().toString()
          : "";
    } catch (IOException | NumberFormatException saysNothing) {
      return "";
    }
  }

  private Path folder() {
    return SYSFS.resolve(name);
  }

  /*
   * Returns whether sysfs shows this interface. A mounted sysfs shows the network namespace in
   * which it was mounted. If that isn't this process's namespace, the interface of this name there
   * has another index.
   */
  private boolean isInSysfs() throws IOException {
    return Integer.parseInt(Files.readString(folder().resolve("ifindex")).strip()) == index;
  }
}

package io.heddle.verbs.libibverbs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Where a device hangs in sysfs, for NCCL's picture of the machine. */
final class SystemPath {
  private SystemPath() {}

  /**
   * The PCI function of a device; for one without (rxe), its network interface's, or the interface
   * itself where that is virtual too; for one that sysfs doesn't have, the path that the library
   * gives.
   *
   * @param device folder of the device in sysfs
   * @param interfaces folder of the network interfaces in sysfs
   */
  static String pciPath(Path device, Path interfaces) {
    Path function = device.resolve("device");
    if (Files.exists(function)) {
      return real(function);
    }
    Path parent = device.resolve("parent");
    if (Files.isReadable(parent)) {
      try {
        Path netdev = interfaces.resolve(Files.readString(parent).strip());
        Path below = netdev.resolve("device");
        return real(Files.exists(below) ? below : netdev);
      } catch (IOException vanished) {
        return device.toString();
      }
    }
    return real(device);
  }

  private static String real(Path path) {
    try {
      return path.toRealPath().toString();
    } catch (IOException absent) {
      return path.toString();
    }
  }
}

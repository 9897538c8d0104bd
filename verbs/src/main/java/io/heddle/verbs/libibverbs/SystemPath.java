package io.heddle.verbs.libibverbs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Position of a device in sysfs, for NCCL's topology. */
final class SystemPath {
  private SystemPath() {}

  /**
   * Returns the path of a device's PCI function. A device without PCI function (rxe) has the path
   * of its network interface's function, or of the interface itself if that is virtual too. A
   * device missing in sysfs has the library's path.
   *
   * @param device directory of the device in sysfs
   * @param interfaces directory of the network interfaces in sysfs
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

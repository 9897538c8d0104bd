package io.heddle.transport.device;

import java.util.Comparator;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Order of devices by number: by PCI address, and by name where that is equal or missing. So {@code
 * mlx5_2} precedes {@code mlx5_10}, and a bridge's own address doesn't count.
 */
final class DeviceOrder {
  private static final Pattern FUNCTION =
      Pattern.compile("(?<=/|^)([0-9a-fA-F]{4,8}):([0-9a-fA-F]{2}):([0-9a-fA-F]{2})\\.([0-7])");
  private static final Pattern DIGITS = Pattern.compile("[0-9]+");
  private static final int WIDTH = 20;
  private static final int RADIX = 16;

  static final Comparator<NetDevice> OF_DEVICES =
      comparing(device -> device.context().attributes().pciPath(), NetDevice::name);

  private DeviceOrder() {}

  /** Returns the order of objects that have a sysfs path and a name. */
  static <T> Comparator<T> comparing(Function<T, String> path, Function<T, String> name) {
    return Comparator.<T>comparingLong(each -> pciAddress(path.apply(each)))
        .thenComparing(each -> padded(name.apply(each)));
  }

  /*
   * Returns domain, bus, device and function of the last PCI function in the path as one number.
   * Devices without one come last.
   */
  private static long pciAddress(String path) {
    long address = Long.MAX_VALUE;
    Matcher function = FUNCTION.matcher(path);
    while (function.find()) {
      address =
          Long.parseLong(function.group(1), RADIX) << 24
              | Long.parseLong(function.group(2), RADIX) << 16
              | Long.parseLong(function.group(3), RADIX) << 8
              | Long.parseLong(function.group(4), RADIX);
    }
    return address;
  }

  /* Returns the name with numbers of equal length, so that their text orders them by value. */
  private static String padded(String name) {
    return DIGITS
        .matcher(name)
        .replaceAll(
            number -> "0".repeat(Math.max(0, WIDTH - number.group().length())) + number.group());
  }
}

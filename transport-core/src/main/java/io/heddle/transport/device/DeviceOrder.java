package io.heddle.transport.device;

/**
 * Order of devices by number: by PCI address, and by name where that is equal or missing. So {@code
 * mlx5_2} precedes {@code mlx5_10}, and a bridge's own address doesn't count.
 *
 * <p>NCCL waits for this, so it uses neither patterns nor comparators of the library, whose classes
 * take milliseconds to load.
 */
final class DeviceOrder {
  private static final int RADIX = 16;
  private static final int NONE = -1;

  private DeviceOrder() {}

  static int compare(NetDevice one, NetDevice other) {
    return compare(
        one.context().attributes().pciPath(),
        one.name(),
        other.context().attributes().pciPath(),
        other.name());
  }

  /** Compares two devices by their sysfs paths and names, as a comparator does. */
  static int compare(String path, String name, String otherPath, String otherName) {
    int byAddress = Long.compare(pciAddress(path), pciAddress(otherPath));
    return byAddress != 0 ? byAddress : compareNames(name, otherName);
  }

  /*
   * Returns domain, bus, device and function of the last PCI function in the path as one number.
   * Devices without one come last.
   */
  private static long pciAddress(String path) {
    int end = path.length();
    while (end > 0) {
      int begin = path.lastIndexOf('/', end - 1) + 1;
      long address = function(path.substring(begin, end));
      if (address != NONE) {
        return address;
      }
      end = begin - 1;
    }
    return Long.MAX_VALUE;
  }

  /* Returns a function's address, such as 0000:0a:00.1, as a number; NONE for other names. */
  private static long function(String name) {
    int bus = name.indexOf(':') + 1;
    int device = name.indexOf(':', bus) + 1;
    int function = name.length() - 1;
    if (bus < 5 || device != bus + 3 || function != device + 3 || name.charAt(device + 2) != '.') {
      return NONE;
    }
    try {
      return Long.parseLong(name, 0, bus - 1, RADIX) << 24
          | Long.parseLong(name, bus, device - 1, RADIX) << 16
          | Long.parseLong(name, device, device + 2, RADIX) << 8
          | Long.parseLong(name, function, name.length(), RADIX);
    } catch (NumberFormatException otherName) {
      return NONE;
    }
  }

  /* Compares texts by their characters, and numbers in them by value. */
  private static int compareNames(String one, String other) {
    int at = 0;
    int otherAt = 0;
    while (at < one.length() && otherAt < other.length()) {
      int end = endOfDigits(one, at);
      int otherEnd = endOfDigits(other, otherAt);
      int order;
      if (end > at && otherEnd > otherAt) {
        String digits = withoutZeros(one.substring(at, end));
        String otherDigits = withoutZeros(other.substring(otherAt, otherEnd));
        order = Integer.compare(digits.length(), otherDigits.length());
        order = order != 0 ? order : digits.compareTo(otherDigits);
        at = end;
        otherAt = otherEnd;
      } else {
        order = Character.compare(one.charAt(at++), other.charAt(otherAt++));
      }
      if (order != 0) {
        return order;
      }
    }
    return Integer.compare(one.length() - at, other.length() - otherAt);
  }

  private static int endOfDigits(String text, int from) {
    int end = from;
    while (end < text.length() && text.charAt(end) >= '0' && text.charAt(end) <= '9') {
      end++;
    }
    return end;
  }

  private static String withoutZeros(String digits) {
    int from = 0;
    while (from < digits.length() - 1 && digits.charAt(from) == '0') {
      from++;
    }
    return digits.substring(from);
  }
}

package io.heddle.bgpstub.daemon;

import java.io.IOException;
import java.net.Inet6Address;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * Look-up of the IPv6 default router that the kernel has on an interface, usually from router
 * advertisements.
 */
final class DefaultRouters {
  /*
   * IPv6 routes of this process's network namespace. Fields of a line: destination, destination
   * length, source, source length, gateway, …, interface.
   */
  private static final Path ROUTES = Path.of("/proc/self/net/ipv6_route");
  private static final int FIELDS = 10;
  private static final int GATEWAY = 4;
  private static final int INTERFACE = 9;

  private DefaultRouters() {}

  /** Returns the default router; null if the kernel has none on this interface (yet). */
  static @Nullable Inet6Address on(String interfaceName) {
    try {
      for (String line : Files.readAllLines(ROUTES)) {
        String[] fields = line.strip().split("\\s+");
        if (fields.length == FIELDS
            && fields[INTERFACE].equals(interfaceName)
            && fields[1].equals("00")
            && !fields[GATEWAY].matches("0+")) {
          return Inet6Address.getByAddress(null, HexFormat.of().parseHex(fields[GATEWAY]), -1);
        }
      }
      return null;
    } catch (UnknownHostException impossible) {
      throw new IllegalStateException("16 bytes are an IPv6 address", impossible);
    } catch (IOException withoutIpv6) {
      return null;
    }
  }
}

package io.heddle.bridge.fabric;

import io.heddle.platform.HeddleException;
import io.heddle.verbs.Gid;
import java.util.List;
import java.util.Locale;

/** Configuration of a fabric. */
public sealed interface FabricSpec permits WireSpec, VerbsSpec {
  /** Returns the name of the fabric: a or b. */
  String name();

  /** Returns the interface or device in the fabric. */
  String end();

  /**
   * Returns the bridge's addresses to use in the fabric, IPv4 in mapped form; empty for all
   * addresses of the interface or device.
   */
  List<Gid> addresses();

  /** Returns the time to live of sent packets, 1 to 255. */
  int hops();

  /** Returns whether both fabrics use the same interface or device. */
  boolean isSameEnd(FabricSpec other);

  /** Returns a failure of this fabric, whose message begins with the fabric's name. */
  default HeddleException failure(String format, Object... values) {
    return new HeddleException(
        "fabric " + name() + ": " + String.format(Locale.ROOT, format, values));
  }

  /**
   * Returns the failure for a proxy address that isn't assigned.
   *
   * @param where place that the operator must assign the address to
   */
  default HeddleException missingProxyAddress(Gid address, String where) {
    return failure(
        "%s has no address %s, which must represent a host; ip addr add %s/%d %s",
        end(), address, address, address.isIpv4Mapped() ? 32 : 128, where);
  }
}

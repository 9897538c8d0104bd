package io.heddle.softdevice;

import io.heddle.platform.Log;
import io.heddle.roce.wire.PacketSizes;
import io.heddle.verbs.Gid;
import java.util.HashSet;
import java.util.Set;

/**
 * Tells once of each local address whose packets go on in the path MTU. Under the progress lock.
 */
final class NarrowWays {
  private final Log log;
  private final Set<Gid> told = new HashSet<>();

  NarrowWays(Log log) {
    this.log = log;
  }

  /** Writes by this link go on in packets of the path MTU. */
  void tell(PeerLink link, PacketSizes sizes) {
    if (told.add(link.localGid())) {
      log.warn(
          "soft0: packets of %d bytes don't pass from %s to %s, though the links at both ends take"
              + " them: something between drops them without a word; writes go in packets of %d,"
              + " which is slower (heddle doctor --peer shows what passes)",
          sizes.sentWriteBytes(), link.localGid(), link.remoteGid(), sizes.mtuBytes());
    }
  }
}

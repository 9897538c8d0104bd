package io.heddle.softdevice;

import io.heddle.platform.Log;
import io.heddle.roce.wire.PacketSizes;
import io.heddle.verbs.Gid;
import java.util.HashSet;
import java.util.Set;

/**
 * Log, once for each local address, of what its packets' path turned out not to carry. Under the
 * progress lock.
 */
final class NarrowPathWarning {
  private final Log log;
  private final Set<Gid> told = new HashSet<>();
  private final Set<Gid> single = new HashSet<>();

  NarrowPathWarning(Log log) {
    this.log = log;
  }

  /** Packets by this link go singly. */
  void warnSinglePackets(PeerLink link) {
    if (single.add(link.localGid())) {
      log.warn(
          "soft0: several packets in one datagram don't pass from %s to %s, single ones do:"
              + " segmentation offload (UDP_SEGMENT) is broken on the way; packets are sent one by"
              + " one, which is several times slower, and trains are tried again now and then"
              + " (ethtool -K INTERFACE tx-udp-segmentation off, on tunnels and bridges too)",
          link.localGid(), link.remoteGid());
    }
  }

  /** Writes by this link go on in packets of the path MTU. */
  void warnNarrowPath(PeerLink link, PacketSizes sizes) {
    if (told.add(link.localGid())) {
      log.warn(
          "soft0: packets of %d bytes don't pass from %s to %s, though the links at both ends take"
              + " them: something between drops them without a word; writes go in packets of %d,"
              + " which is slower (heddle doctor --peer shows what passes)",
          sizes.sentWriteBytes(), link.localGid(), link.remoteGid(), sizes.mtuBytes());
    }
  }
}

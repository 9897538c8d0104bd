package io.heddle.softdevice.io;

import io.heddle.platform.Log;
import io.heddle.roce.wire.PacketSizes;
import io.heddle.verbs.Gid;
import java.util.HashSet;
import java.util.Set;

/**
 * Warnings about packets that a local address's path drops, one per local address. Used under the
 * progress lock.
 */
public final class NarrowPathWarning {
  private final Log log;
  private final Set<Gid> narrow = new HashSet<>();
  private final Set<Gid> single = new HashSet<>();

  public NarrowPathWarning(Log log) {
    this.log = log;
  }

  /** Logs that packets of this link are sent one per datagram, since trains are lost. */
  void warnSinglePackets(PeerLink link) {
    if (single.add(link.localGid())) {
      log.warn(
          "soft0: several packets in one datagram don't pass from %s to %s, single ones do:"
              + " segmentation offload (UDP_SEGMENT) is broken on the path; packets are sent one by"
              + " one, which is several times slower, and trains are retried periodically"
              + " (ethtool -K INTERFACE tx-udp-segmentation off, on tunnels and bridges too)",
          link.localGid(), link.remoteGid());
    }
  }

  /** Logs that WRITEs on this link use packets of the path MTU, since larger ones are lost. */
  void warnNarrowPath(PeerLink link, PacketSizes sizes) {
    if (narrow.add(link.localGid())) {
      log.warn(
          "soft0: packets of %d bytes don't pass from %s to %s, though the links at both ends take"
              + " them: a hop between drops them silently; WRITEs use packets of %d,"
              + " which is slower (heddle doctor --peer shows what passes)",
          sizes.sentWriteBytes(), link.localGid(), link.remoteGid(), sizes.mtuBytes());
    }
  }
}

package io.heddle.roce.transport;

/**
 * Links of a connected queue pair to its peer.
 *
 * @param count number of links, at most {@link io.heddle.roce.wire.EndpointParameters#MOST_LINKS}
 * @param absent links on which one of the two ends has no address, bit i for link i
 * @param narrowWindow largest window of a link, in packets of the path MTU; limited by the peer's
 *     socket buffers
 * @param wideWindow largest window of a link, in packets of the agreed size
 */
public record LinkSet(int count, int absent, int narrowWindow, int wideWindow) {
  public boolean isAbsent(int link) {
    return (absent & 1 << link) != 0;
  }
}

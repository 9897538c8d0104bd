package io.heddle.roce.transport;

/**
 * The links that a queue pair has to its peer, once connected.
 *
 * @param count at most {@link io.heddle.roce.wire.EndpointParameters#MOST_LINKS}
 * @param absent those of which an end has no address, bit i for link i
 * @param narrowWindow packets that may be under way on a link by the room of the peer's sockets,
 *     where packets are as the path MTU allows
 * @param wideWindow the same where writes are in the packets that were agreed on
 */
public record LinkSet(int count, int absent, int narrowWindow, int wideWindow) {
  public boolean isAbsent(int link) {
    return (absent & 1 << link) != 0;
  }
}

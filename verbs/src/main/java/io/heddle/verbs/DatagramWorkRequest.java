package io.heddle.verbs;

import org.jspecify.annotations.Nullable;

/**
 * Element of a list given to {@link DatagramQueuePair#postSend}: a SEND to any peer. It is
 * reusable, since the device copies it before {@code postSend} returns.
 */
public final class DatagramWorkRequest {
  public long id;

  /** Whether the request makes a completion if it succeeds; a failed request always makes one. */
  public boolean signalled;

  public long localAddress;

  /** Length of the payload, at most the path MTU: a datagram is one packet. */
  public int lengthBytes;

  public int lkey;
  public boolean hasImmediate;

  /** Immediate data in host order. */
  public int immediate;

  /** Destination of the datagram; set by the caller before posting. */
  public @Nullable AddressHandle destination;

  /** Number of the peer's queue pair, 24 bits; 0xffffff for a multicast group. */
  public int remoteQueuePairNumber;

  public int remoteQueueKey;

  /** The next request of the list, or null. */
  public @Nullable DatagramWorkRequest next;
}

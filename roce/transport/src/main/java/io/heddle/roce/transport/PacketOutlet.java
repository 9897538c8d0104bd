package io.heddle.roce.transport;

import io.heddle.roce.wire.PacketSizes;

/**
 * Transmit interface of a queue pair. It has two users: the soft device's sockets, and the virtual
 * pair of the tests, which runs both ends of a connection in virtual time, without sockets, and
 * loses packets by a seed. It is called for each train, so one process must not load more than two
 * implementations, which the JIT compiler can inline. Used under the progress lock.
 */
public interface PacketOutlet {
  /** Result of sending a train. */
  enum Outcome {
    /** Sent without a copy: the kernel may still read the train's pages. */
    ZERO_COPY,
    /**
     * Will be sent soon through another queue pair's socket; otherwise the same as {@link #SENT}.
     */
    BUNDLED,
    /** Sent, or lost like a packet on a wire; the train's memory isn't read any more. */
    SENT,
    /** Not sent: the socket is full. */
    FULL
  }

  /** Sets the link whose addresses and ports the CRCs of the next packets cover. */
  void selectFlow(int link);

  /**
   * Sends a retransmission or a probe. It is never bundled with other queue pairs' packets, since a
   * bundle is lost if the queue pair of its first packet is closed. Returns false when the socket
   * is full.
   */
  boolean send(int link, long address, int lengthBytes, int segmentBytes);

  /**
   * Sends a response, which may be bundled with other packets. Returns false when the socket is
   * full.
   */
  boolean sendResponse(int link, long address, int lengthBytes, int segmentBytes);

  /** Sends a train whose memory stays unchanged until it is acknowledged. */
  Outcome sendRetained(int link, long address, int lengthBytes, int segmentBytes);

  /** Returns whether a link's path no longer supports packets of the agreed size. */
  boolean isTooNarrow(int link);

  /** Returns whether a link's path supports WRITE packets with this payload, as far as is known. */
  boolean canPass(int link, int writeBytes);

  /** Warns that a link's packets are sent one by one for a while, since its trains are lost. */
  void warnSinglePackets(int link);

  /** Warns that a link's WRITEs use smaller packets than agreed, since larger ones are lost. */
  void warnNarrowPath(int link, PacketSizes sizes);
}

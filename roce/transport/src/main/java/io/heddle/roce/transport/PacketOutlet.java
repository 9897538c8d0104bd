package io.heddle.roce.transport;

import io.heddle.roce.wire.PacketSizes;

/**
 * Where the packets of a queue pair leave: the soft device's sockets, or a simulated fabric. At
 * most two implementations are loaded, since this is called for each train. Under the progress
 * lock.
 */
public interface PacketOutlet {
  /** What became of a train. */
  enum Outcome {
    /** It left by its own pages: the kernel may still read them. */
    LENT,
    /** The same as {@link #SENT}, soon, by another queue pair's socket. */
    AS_GUEST,
    /** It left, or was lost in a way that the protocol repairs, and nobody reads it any more. */
    SENT,
    /** It didn't leave: the socket is full. */
    FULL
  }

  /** What is sealed from now on goes by this link. */
  void sealFor(int link);

  /**
   * Sends what is sent again, or asks: by itself, since a bundle is lost where its first queue pair
   * isn't there any more. False when there is no room now.
   */
  boolean send(int link, long address, int lengthBytes, int segmentBytes);

  /** Sends an answer, which may leave with other packets. False when there is no room now. */
  boolean answer(int link, long address, int lengthBytes, int segmentBytes);

  /** Sends a train that stays as it is until it is acknowledged. */
  Outcome sendLasting(int link, long address, int lengthBytes, int segmentBytes);

  /** Whether the way of a link has become too narrow for the packets that were agreed on. */
  boolean isTooNarrow(int link);

  /** Whether nothing is known on the way of a link that is too narrow for this size. */
  boolean mayPass(int link, int writeBytes);

  /** Packets of a link go singly for a while, since trains of them are lost. */
  void tellSingly(int link);

  /** Writes by a link go on in smaller packets than both ends take, since larger ones are lost. */
  void tellNarrow(int link, PacketSizes sizes);
}

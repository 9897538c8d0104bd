package io.heddle.transport.data;

import io.heddle.spray.SprayPolicy;

/**
 * A put or a get as a caller asks for it; a carrier of values that belongs to {@link PeerPuts} from
 * {@link PeerPuts#submit} on, until its request is done.
 */
public final class OneSidedOperation {
  /** The most bytes that one may have: 32 GiB. */
  public static final long MOST_BYTES =
      (long) SprayPolicy.MAX_CHUNKS * SprayPolicy.MOST_CHUNK_BYTES;

  /** When the target may apply the signal. */
  public enum Signal {
    NONE(0),
    /** After the operation's own bytes. */
    WEAK(1),
    /** After all that is earlier of its context. */
    STRONG(2);

    final int code;

    Signal(int code) {
      this.code = code;
    }
  }

  /** Whether it reads the peer's memory; else it writes it. */
  public boolean get;

  /** The caller's request, in the lines of the group. */
  public int line;

  /** Below {@link ContextOrder#MOST_CONTEXTS}; of its order with others. */
  public int context;

  public long localAddress;
  public int localKey;
  public long lengthBytes;

  /** The peer's registration and the first byte's place in it; without meaning where none is. */
  public int registration;

  public long offset;

  public Signal signal = Signal.NONE;
  public int signalRegistration;
  public long signalOffset;
  public long addend;

  /** Becomes what the other one is. */
  public void set(OneSidedOperation other) {
    get = other.get;
    line = other.line;
    context = other.context;
    localAddress = other.localAddress;
    localKey = other.localKey;
    lengthBytes = other.lengthBytes;
    registration = other.registration;
    offset = other.offset;
    signal = other.signal;
    signalRegistration = other.signalRegistration;
    signalOffset = other.signalOffset;
    addend = other.addend;
  }
}

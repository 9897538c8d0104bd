package io.heddle.transport.onesided;

import io.heddle.spray.SprayPolicy;

/**
 * Put or get requested by a caller; a value holder that belongs to {@link OneSidedInitiator} from
 * {@link OneSidedInitiator#submit} until its request is done.
 */
public final class OneSidedOperation {
  /** Maximum size of one operation: 32 GiB. */
  public static final long MOST_BYTES =
      (long) SprayPolicy.MAX_CHUNKS * SprayPolicy.MOST_CHUNK_BYTES;

  /** Rule for the order in which the target applies signals. */
  public enum Signal {
    NONE(0),
    /** The target applies the signal after the operation's own bytes have arrived. */
    WEAK(1),
    /** The target applies the signal after all earlier operations of its context are finished. */
    STRONG(2);

    final int code;

    Signal(int code) {
      this.code = code;
    }
  }

  /** Whether the operation is a get, which reads the peer's memory; else it is a put. */
  public boolean get;

  /** Index of the caller's request among the group's {@link RequestLines}. */
  public int line;

  /** Context that orders the operation; below {@link ContextOrder#MOST_CONTEXTS}. */
  public int context;

  public long localAddress;
  public int localKey;
  public long lengthBytes;

  /**
   * Number of the peer's registration; {@link #offset} is the first byte's offset in it. Undefined
   * if the length is 0.
   */
  public int registration;

  public long offset;

  public Signal signal = Signal.NONE;
  public int signalRegistration;
  public long signalOffset;
  public long addend;

  /** Copies all values of another operation. */
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

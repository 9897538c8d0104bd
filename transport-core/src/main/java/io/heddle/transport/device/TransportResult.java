package io.heddle.transport.device;

/**
 * Result codes that the plugin passes on to NCCL unchanged. A method that returns an address,
 * handle or number returns a failure as the negated code.
 */
public final class TransportResult {
  public static final int SUCCESS = 0;

  /** The network, the device or the operating system failed. */
  public static final int SYSTEM_ERROR = 2;

  /** An internal fault of Heddle. */
  public static final int INTERNAL_ERROR = 3;

  /** The caller named an object that doesn't exist. */
  public static final int INVALID_ARGUMENT = 4;

  /**
   * The caller broke the rules of the interface, such as with a pointer type that isn't supported.
   */
  public static final int INVALID_USAGE = 5;

  /** The peer, or the path to it, is gone. */
  public static final int REMOTE_ERROR = 6;

  private TransportResult() {}
}

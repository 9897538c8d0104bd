package io.heddle.transport.device;

/**
 * How a call ended, as numbers that the plugin hands on as they are. Failures travel negated where
 * a value may.
 */
public final class TransportResult {
  public static final int SUCCESS = 0;

  /** The network, the device or the operating system failed. */
  public static final int SYSTEM_ERROR = 2;

  /** A fault of Heddle's own. */
  public static final int INTERNAL_ERROR = 3;

  /** The caller named something that doesn't exist. */
  public static final int INVALID_ARGUMENT = 4;

  /** The caller broke the rules of the interface, such as a send larger than its receive. */
  public static final int INVALID_USAGE = 5;

  /** The peer, or the way to it, is gone. */
  public static final int REMOTE_ERROR = 6;

  private TransportResult() {}
}

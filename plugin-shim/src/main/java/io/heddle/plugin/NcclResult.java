package io.heddle.plugin;

/** Result codes of NCCL, returned by every entry of the shim's table. */
final class NcclResult {
  static final int SUCCESS = 0;

  /** Failure of the network or the machine. */
  static final int SYSTEM_ERROR = 2;

  /** Failure of Heddle itself. */
  static final int INTERNAL_ERROR = 3;

  static final int INVALID_ARGUMENT = 4;

  /** Call that is invalid at this point, or that the plugin doesn't support. */
  static final int INVALID_USAGE = 5;

  /** Peer that is gone, silent or unreachable. */
  static final int REMOTE_ERROR = 6;

  private NcclResult() {}
}

package io.heddle.plugin;

/** NCCL's result codes, as every entry of the shim's table returns them. */
final class NcclResult {
  static final int SUCCESS = 0;

  /** The network or the machine failed. */
  static final int SYSTEM_ERROR = 2;

  /** Heddle failed. */
  static final int INTERNAL_ERROR = 3;

  static final int INVALID_ARGUMENT = 4;

  /** The call is wrong at this point, or asks for what the plugin doesn't do. */
  static final int INVALID_USAGE = 5;

  /** The peer is gone, silent or unreachable. */
  static final int REMOTE_ERROR = 6;

  private NcclResult() {}
}

package io.heddle.telemetry.gnmi;

import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * Filter for gRPC's and Netty's java.util.logging output on the standard error stream. They print a
 * stack trace for each connection that breaks during a write, and for a host without a hardware
 * address. Users of a connection report its end themselves.
 */
public final class GrpcLog {
  /* Held here, since java.util.logging drops an unreferenced logger with its level. */
  private static final Logger ALL = Logger.getLogger("io.grpc");

  private GrpcLog() {}

  /** Suppresses everything below severe errors. */
  public static void severeOnly() {
    ALL.setLevel(Level.SEVERE);
  }
}

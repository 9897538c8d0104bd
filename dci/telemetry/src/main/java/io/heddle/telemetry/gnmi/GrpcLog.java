package io.heddle.telemetry.gnmi;

import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * Filter for the log output of gRPC and its copy of Netty, which goes to the standard error stream
 * by java.util.logging. Unfiltered, the output would contain a stack trace for each connection that
 * breaks during a write, and on hosts without a hardware address. The code that uses a connection
 * reports its end anyway.
 */
public final class GrpcLog {
  /*
   * Keeps the logger referenced: java.util.logging drops an unreferenced logger, and its level with
   * it.
   */
  private static final Logger ALL = Logger.getLogger("io.grpc");

  private GrpcLog() {}

  /** Suppresses all output except severe errors. */
  public static void severeOnly() {
    ALL.setLevel(Level.SEVERE);
  }
}

package io.heddle.telemetry.gnmi;

import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * What gRPC and Netty write to the standard error stream by java.util.logging. Each connection that
 * breaks in the middle of a write is a stack trace there, and so is a host without a hardware
 * address. Whoever uses a connection tells of its end in our own words.
 */
public final class GrpcLog {
  /* Kept, since java.util.logging forgets a logger that nobody holds, with its level. */
  private static final Logger ALL = Logger.getLogger("io.grpc");

  private GrpcLog() {}

  /** Leaves it errors that are severe. */
  public static void severeOnly() {
    ALL.setLevel(Level.SEVERE);
  }
}

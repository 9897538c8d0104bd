package io.heddle.tools.lab;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Set of hosts with planes, on which processes can run. Closing removes everything that was set up;
 * processes must have ended before.
 */
public interface Lab extends AutoCloseable {
  /** Isolation of the hosts. */
  enum Kind {
    NAMESPACES("network namespaces"),
    USER_NAMESPACE("network namespaces inside a user namespace"),
    LOOPBACK("loopback addresses");

    private final String text;

    Kind(String text) {
      this.text = text;
    }

    /** Returns the name for use in a sentence. */
    public String text() {
      return text;
    }
  }

  Kind kind();

  LabPlan plan();

  /** Returns the command line that runs {@code command} on this host. */
  List<String> command(int rank, List<String> command);

  /** Returns the host's network namespace by its ip-netns(8) name, or null if it has none. */
  default @Nullable String namespace(int rank) {
    return null;
  }

  /** Returns environment variables for a process on this host, in addition to the caller's. */
  Map<String, String> environment(int rank);

  /**
   * Returns the bytes sent so far by each plane's interfaces over all hosts, counted independently
   * of Heddle.
   *
   * @return one value per plane, in order; empty if planes share an interface
   */
  List<Long> sentBytesByPlane();

  @Override
  void close();
}

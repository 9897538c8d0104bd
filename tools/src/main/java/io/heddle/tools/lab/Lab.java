package io.heddle.tools.lab;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Set of hosts with planes, on which processes can run. Closing a lab removes everything that was
 * set up; the processes must have ended before.
 */
public interface Lab extends AutoCloseable {
  /** Means by which a lab isolates its hosts. */
  enum Kind {
    NAMESPACES("network namespaces"),
    USER_NAMESPACE("network namespaces inside a user namespace"),
    LOOPBACK("loopback addresses");

    private final String text;

    Kind(String text) {
      this.text = text;
    }

    /** Returns the description of this kind for use in a sentence. */
    public String text() {
      return text;
    }
  }

  Kind kind();

  LabPlan plan();

  /** Returns the command line that runs {@code command} on a host. */
  List<String> command(int rank, List<String> command);

  /** Returns the ip-netns(8) name of a host's network namespace; null if the host has none. */
  default @Nullable String namespace(int rank) {
    return null;
  }

  /**
   * Returns the environment variables that a process on a host needs in addition to the caller's.
   */
  Map<String, String> environment(int rank);

  /**
   * Returns the number of bytes that each plane's interfaces have sent so far, over all hosts. The
   * count is independent of Heddle, so that it can be compared with Heddle's counters.
   *
   * @return one value per plane, in order; empty if planes share an interface
   */
  List<Long> sentBytesByPlane();

  @Override
  void close();
}

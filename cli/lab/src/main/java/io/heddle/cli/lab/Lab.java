package io.heddle.cli.lab;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Hosts with planes, ready for processes. Closing takes down what was set up; processes must have
 * ended before.
 */
public interface Lab extends AutoCloseable {
  /** How hosts are kept apart. */
  enum Kind {
    NAMESPACES("network namespaces"),
    USER_NAMESPACE("network namespaces inside a user namespace"),
    LOOPBACK("loopback addresses");

    private final String text;

    Kind(String text) {
      this.text = text;
    }

    /** As it reads in a sentence. */
    public String text() {
      return text;
    }
  }

  Kind kind();

  LabPlan plan();

  /** The command line that runs {@code command} as this host. */
  List<String> command(int rank, List<String> command);

  /** The host's network namespace by ip-netns(8)'s name, or null where it has none of its own. */
  default @Nullable String namespace(int rank) {
    return null;
  }

  /** Variables that a process on this host needs, on top of the caller's own. */
  Map<String, String> environment(int rank);

  /**
   * Bytes that each plane's interfaces have sent so far, over all hosts: the witness that owes
   * nothing to Heddle.
   *
   * @return one number per plane, in order; empty where planes share an interface
   */
  List<Long> sentBytesByPlane();

  @Override
  void close();
}

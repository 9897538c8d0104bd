package io.heddle.platform.testing;

import io.heddle.platform.HeddleException;
import io.heddle.platform.NetworkNamespaces;
import io.heddle.platform.NetworkTopology;
import org.junit.jupiter.api.Assumptions;

/** Requirements of tests on the machine. A test is skipped, with the reason, if one isn't met. */
public final class Requirements {
  private Requirements() {}

  /** Skips the test, or the class, if no network namespace with a link can be created. */
  public static void namespaces() {
    String refusal = "";
    try (NetworkNamespaces tried = NetworkTopology.of("try").link("try e0", "try e1").create()) {
      tried.node("try").call(() -> null);
    } catch (HeddleException failed) {
      refusal = "no network namespace can be created here: " + failed.getMessage();
    }
    skipWhere(refusal);
  }

  /** Skips the test, or the class, if there is a reason, and prints the reason. */
  public static void skipWhere(String reason) {
    if (!reason.isEmpty()) {
      System.out.println("skipped: " + reason);
      Assumptions.abort(reason);
    }
  }
}

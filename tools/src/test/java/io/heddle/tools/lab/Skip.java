package io.heddle.tools.lab;

import org.junit.jupiter.api.Assumptions;

/**
 * Skipping of tests that can't run on this machine. The reason is printed and is in the test
 * report.
 */
public final class Skip {
  private Skip() {}

  /** Skips the running test, or the whole class if called before its first test. */
  public static void because(String reason) {
    System.out.println("skipped: " + reason);
    Assumptions.abort(reason);
  }

  /** Skips the test if this kind of lab can't be created. */
  public static void unless(Lab.Kind kind) {
    Labs.refusal(kind).ifPresent(reason -> because("no " + kind.text() + " here: " + reason));
  }

  /** Skips the test if no fabric of routers can be created, with FRR if {@code frr}. */
  public static void unlessFabric(boolean frr) {
    unless(Lab.Kind.NAMESPACES);
    Fabric.refusal(frr).ifPresent(reason -> because("no fabric here: " + reason));
  }
}

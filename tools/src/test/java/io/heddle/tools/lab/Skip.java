package io.heddle.tools.lab;

import org.junit.jupiter.api.Assumptions;

/** Skipping of tests that can't run on this machine. The reason is printed and reported. */
public final class Skip {
  private Skip() {}

  /** Skips the test or, before all of a class, the class. */
  public static void because(String reason) {
    System.out.println("skipped: " + reason);
    Assumptions.abort(reason);
  }

  /** Continues if this kind of lab can be created. */
  public static void unless(Lab.Kind kind) {
    Labs.refusal(kind).ifPresent(reason -> because("no " + kind.text() + " here: " + reason));
  }

  /** Continues if a fabric of routers can be created, including FRR if {@code frr}. */
  public static void unlessFabric(boolean frr) {
    unless(Lab.Kind.NAMESPACES);
    Fabric.refusal(frr).ifPresent(reason -> because("no fabric here: " + reason));
  }
}

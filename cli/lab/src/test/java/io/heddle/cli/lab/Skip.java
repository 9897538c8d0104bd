package io.heddle.cli.lab;

import org.junit.jupiter.api.Assumptions;

/** Skips tests that can't run on a machine. The reason is printed and gets into the report. */
public final class Skip {
  private Skip() {}

  /** Skips the test or, before all of a class, the class. */
  public static void because(String reason) {
    System.out.println("skipped: " + reason);
    Assumptions.abort(reason);
  }

  /** Goes on where this kind of lab can be made. */
  public static void unless(Lab.Kind kind) {
    Labs.refusal(kind).ifPresent(reason -> because("no " + kind.text() + " here: " + reason));
  }

  /** Goes on where a fabric of routers can be made; {@code frr}: FRR's among them. */
  public static void unlessFabric(boolean frr) {
    unless(Lab.Kind.NAMESPACES);
    Fabric.refusal(frr).ifPresent(reason -> because("no fabric here: " + reason));
  }
}

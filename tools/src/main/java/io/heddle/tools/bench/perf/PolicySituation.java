package io.heddle.tools.bench.perf;

import java.util.Locale;

/** State of the fabric's planes while policies are compared. */
enum PolicySituation {
  EQUAL("all planes equal"),
  ANNOUNCED("plane 1 at a quarter of the rate, announced by BGP"),
  UNANNOUNCED("plane 1 at a quarter of the rate, unannounced"),
  BURSTS("each plane by itself at a fifth of the rate for 100 ms, every 500 ms");

  private final String text;

  PolicySituation(String text) {
    this.text = text;
  }

  /** Returns a description for tables. */
  String text() {
    return text;
  }

  /** Returns the name in tables and JSON. */
  String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Returns the number by which the first plane's rate is divided. */
  int slowedBy() {
    return this == ANNOUNCED || this == UNANNOUNCED ? 4 : 1;
  }

  boolean announces() {
    return this == ANNOUNCED;
  }
}

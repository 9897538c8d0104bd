package io.heddle.cli.bench.perf;

import java.util.Locale;

/** What the fabric's planes do while policies are compared. */
enum PolicySituation {
  EQUAL("all planes alike"),
  ANNOUNCED("plane 1 carries a quarter, and BGP says so"),
  UNANNOUNCED("plane 1 carries a quarter, and nobody says so"),
  BURSTS("each plane by itself loses four fifths for 100 ms, every 500 ms");

  private final String text;

  PolicySituation(String text) {
    this.text = text;
  }

  /** For people. */
  String text() {
    return text;
  }

  /** In tables and JSON. */
  String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** What the first plane carries, as a divisor of its rate. */
  int slowedBy() {
    return this == ANNOUNCED || this == UNANNOUNCED ? 4 : 1;
  }

  boolean announces() {
    return this == ANNOUNCED;
  }
}

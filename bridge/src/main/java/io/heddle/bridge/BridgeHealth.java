package io.heddle.bridge;

import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Health of a running bridge, for its supervisor. Thread-safe. */
public final class BridgeHealth {
  private final LongSupplier beats;
  private final Supplier<@Nullable String> trouble;

  /**
   * @param beats number that changes with each round of the data thread
   * @param trouble faults of the fabrics in words; empty for none, null before the first check
   */
  public BridgeHealth(LongSupplier beats, Supplier<@Nullable String> trouble) {
    this.beats = beats;
    this.trouble = trouble;
  }

  /** Returns a number that changes while the data thread runs, at least 50 times a second. */
  public long beats() {
    return beats.getAsLong();
  }

  /**
   * Returns the faults of the fabrics in words; empty for none. They are checked each second.
   *
   * @return null before the first check
   */
  public @Nullable String trouble() {
    return trouble.get();
  }
}

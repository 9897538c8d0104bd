package io.heddle.bridge;

import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** How a running bridge is, for what supervises it. Any thread's. */
public final class BridgeHealth {
  private final LongSupplier beats;
  private final Supplier<@Nullable String> trouble;

  /**
   * @param beats of the data thread
   * @param trouble with the fabrics; null before the first look at them
   */
  public BridgeHealth(LongSupplier beats, Supplier<@Nullable String> trouble) {
    this.beats = beats;
    this.trouble = trouble;
  }

  /** A number that changes as long as the data thread moves, 50 times a second at least. */
  public long beats() {
    return beats.getAsLong();
  }

  /**
   * What keeps a fabric from carrying, in words; empty for nothing. It is looked for each second.
   *
   * @return null before the first look
   */
  public @Nullable String trouble() {
    return trouble.get();
  }
}

package io.heddle.tools.bench.contest;

import java.io.IOException;

/**
 * Party of a {@link Contest}, usually some processes. It measures on request and is idle otherwise,
 * so that several can take turns.
 *
 * @param <S> step of the contest; {@code toString} is its label
 */
public interface Contestant<S> extends AutoCloseable {
  /** Returns the name in tables and figures; constant. */
  String name();

  /** Waits until the contestant can measure. */
  default void awaitWarm() throws InterruptedException {}

  /**
   * Measures a step once.
   *
   * @param round taker of the values
   * @throws io.heddle.platform.HeddleException if a process fails or has wrong data, which ends the
   *     contest
   */
  void measure(S step, Round round) throws IOException, InterruptedException;

  /** Waits until the contestant's processes have ended after the last measurement. */
  default void awaitEnd() throws InterruptedException {}

  @Override
  default void close() throws IOException {}

  /** Measures a step once. */
  interface Measuring<S> {
    void measure(S step, Round round) throws IOException, InterruptedException;
  }

  /** Returns a contestant that needs no time to start or to end. */
  static <S> Contestant<S> of(String name, Measuring<S> measuring) {
    return new Contestant<>() {
      @Override
      public String name() {
        return name;
      }

      @Override
      public void measure(S step, Round round) throws IOException, InterruptedException {
        measuring.measure(step, round);
      }
    };
  }

  /** Taker of the values that a contestant measures in one round. */
  interface Round {
    /**
     * Adds a value.
     *
     * @param quantity end of the figure's name, with its separator, such as {@code : set up}
     */
    void add(String step, String quantity, String unit, double value);
  }
}

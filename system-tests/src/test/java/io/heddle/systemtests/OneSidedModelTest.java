package io.heddle.systemtests;

import io.heddle.platform.testing.SystemTest;
import io.heddle.platform.testing.WholeRunOnly;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Model check of puts with signals over several planes, the protocol of
 * docs/decisions/one-sided.md. SPIN searches every order of events in a small connection.
 * Deliberately broken protocols show that the model detects errors.
 */
@Execution(ExecutionMode.CONCURRENT)
@SystemTest
class OneSidedModelTest {
  private SpinModel model;

  @BeforeEach
  void choose(@TempDir Path folder) {
    model = new SpinModel(folder, "one-sided.pml");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        /*
         * Two puts of two chunks with strong signals; one of two planes fails visibly or silently.
         */
        "OPERATIONS=2 CHUNKS=2 SLOTS=2",
        /*
         * Two puts of two chunks with strong signals, one put at a time; the failed plane returns.
         */
        "OPERATIONS=2 CHUNKS=2 SLOTS=1 RETURNS=1",
        /* A plane returns before, during or after the other plane's failure, or fails again. */
        "OPERATIONS=2 CHUNKS=1 SLOTS=1 FAILURES=2 RETURNS=1",
        /*
         * A put without signal, then a weak signal of another context, then a strong signal of the
         * first context.
         */
        "OPERATIONS=3 CHUNKS=1 SLOTS=3 SECOND_CONTEXT=2 STRONG=4 SIGNALS=6 RETURNS=1",
        /* Weak signals only, which overtake each other. */
        "OPERATIONS=2 CHUNKS=2 SLOTS=2 STRONG=0 CARRIERS_ONLY",
        /* There are more operations than slots. */
        "OPERATIONS=3 CHUNKS=1 SLOTS=2 RETURNS=1",
        /* Signals in device memory, whose additions are delayed. */
        "OPERATIONS=2 CHUNKS=2 SLOTS=2 SIGNALS_LATER",
        "OPERATIONS=3 CHUNKS=1 SLOTS=2 RETURNS=1 SECOND_CONTEXT=2 STRONG=5 SIGNALS_LATER",
      })
  @WholeRunOnly(alwaysRunRows = {2, 6})
  void noEventOrderShowsSignalEarlyOrTwice(String definitions)
      throws IOException, InterruptedException {
    model.assertSound(definitions);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "OPERATIONS=2 CHUNKS=1 SLOTS=1 RETURNS=1",
        "OPERATIONS=2 CHUNKS=2 SLOTS=1",
      })
  @WholeRunOnly(alwaysRunRows = 2)
  void everyRunEnds(String definitions) throws IOException, InterruptedException {
    model.assertEveryRunEnds(definitions);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          STRONG_BY_OWN_PUT                    | (landed&      | OPERATIONS=2 CHUNKS=2 SLOTS=2
          SIGNAL_WITH_RECORD                   | (landed&      | OPERATIONS=2 CHUNKS=2 SLOTS=2
          REPLAY_BEFORE_FENCE                  | outstanding[j]| OPERATIONS=2 CHUNKS=2 SLOTS=2
          REPLAY_BEFORE_FENCE SOURCE_UNWATCHED | kept_arrivals | OPERATIONS=2 CHUNKS=2 SLOTS=2
          FENCED_WITHOUT_ARRIVALS              | finished>>i   | OPERATIONS=2 CHUNKS=2 SLOTS=2
          FENCE_WITHOUT_ERROR                  | finished>>i   | OPERATIONS=2 CHUNKS=2 SLOTS=2
          FENCE_WITHOUT_COMPLETIONS            | finished>>i   | OPERATIONS=2 CHUNKS=2 SLOTS=2
          CREDIT_BY_ACKNOWLEDGEMENT            | ring[         | OPERATIONS=3 CHUNKS=1 SLOTS=1
          CREDIT_NOT_SAID_AGAIN                | acknowledged  | OPERATIONS=3 CHUNKS=1 SLOTS=1
          CREDITS_OVERTAKE                     | acknowledged  | OPERATIONS=5 CHUNKS=1 SLOTS=2 STRONG=31 SIGNALS=31 FAILURES=0
          """)
  @WholeRunOnly(alwaysRunRows = {8, 9})
  void aBrokenProtocolIsFound(String broken, String violated, String size)
      throws IOException, InterruptedException {
    model.assertFinds(broken, violated, size);
  }
}

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
 * Model check of the failover protocol of docs/failover.md: every order of events in a small
 * connection. Deliberately broken protocols show that the model detects errors. Each search uses
 * one processor, so searches run in parallel.
 */
@Execution(ExecutionMode.CONCURRENT)
@SystemTest
class FailoverModelTest {
  private SpinModel model;

  @BeforeEach
  void choose(@TempDir Path folder) {
    model = new SpinModel(folder, "failover.pml");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        /*
         * Both of two planes fail at any two points: every message completes, or the connection
         * fails.
         */
        "PLANES=2 FAILURES=2 GROUPS=2 SLOTS=2 CHUNKS=1",
        /* Two of three planes fail visibly at any two points: every message completes. */
        "PLANES=3 FAILURES=2 GROUPS=2 SLOTS=1 CHUNKS=1 CARRIERS_ONLY",
        /* One of three planes fails visibly, or silently. */
        "PLANES=3 FAILURES=1 GROUPS=2 SLOTS=1 CHUNKS=1",
        /* A plane returns before, during or after the other plane's failure, or fails again. */
        "PLANES=2 FAILURES=2 RETURNS=1 GROUPS=2 SLOTS=1 CHUNKS=1",
        /* Messages have two chunks, of which one may have arrived. */
        "PLANES=2 FAILURES=1 RETURNS=1 GROUPS=2 SLOTS=1 CHUNKS=2",
        /* There are more messages than slots. */
        "PLANES=2 FAILURES=1 RETURNS=1 GROUPS=3 SLOTS=2 CHUNKS=1",
        /*
         * Entries are rewritten before the sender's fence, which is correct if nothing is in flight
         * for the slot.
         */
        "PLANES=2 FAILURES=1 RETURNS=1 GROUPS=3 SLOTS=1 CHUNKS=1 REWRITE_BEFORE_FENCE",
      })
  @WholeRunOnly(alwaysRunRows = {3, 7})
  void noEventOrderWritesReturnedBufferOrHangs(String definitions)
      throws IOException, InterruptedException {
    model.assertSound(definitions);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "PLANES=2 FAILURES=2 GROUPS=2 SLOTS=1 CHUNKS=1",
        "PLANES=2 FAILURES=1 RETURNS=1 GROUPS=2 SLOTS=1 CHUNKS=1",
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
          REPLAY_BEFORE_FENCE SOURCE_UNWATCHED      | i>=oldest           | PLANES=2 FAILURES=1 SLOTS=1
          REPLAY_BEFORE_FENCE                       | outstanding[n]      | PLANES=2 FAILURES=1 SLOTS=1
          FENCE_WITHOUT_ERROR                       | i>=oldest           | PLANES=2 FAILURES=1 SLOTS=1
          FENCE_WITHOUT_COMPLETIONS                 | i>=oldest           | PLANES=2 FAILURES=1 SLOTS=1
          REOPEN_SAME_QUEUE_PAIR                    | i>=oldest           | PLANES=2 FAILURES=1 SLOTS=1 RETURNS=1
          NEXT_COVERS_SENDER                        | kept_next           | PLANES=2 FAILURES=1 SLOTS=2
          ENTRIES_UNCOUNTED                         | acknowledged        | PLANES=3 FAILURES=1 SLOTS=1
          GRACE_WITHOUT_SILENCE                     | acknowledged        | PLANES=2 FAILURES=2 SLOTS=1
          """)
  @WholeRunOnly(alwaysRunRows = {2, 3})
  void aBrokenProtocolIsFound(String broken, String violated, String definitions)
      throws IOException, InterruptedException {
    model.assertFinds(broken, violated, definitions + " GROUPS=2 CHUNKS=1");
  }
}

package io.heddle.systemtests;

import io.heddle.platform.testing.InWholeRun;
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
 * Two bridges and a group as docs/decisions/bridge.md has them, in every order of events; and that
 * the model tells a broken protocol from a good one.
 */
@Execution(ExecutionMode.CONCURRENT)
class OwnershipModelTest {
  private SpinModel model;

  @BeforeEach
  void choose(@TempDir Path folder) {
    model = new SpinModel(folder, "bridge", "ownership.pml");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        /* A bridge is drained, and beacons come in an order of their own. */
        "EVENTS=1",
        /* Two are, one after the other or both; or the one again. */
        "EVENTS=2",
        /* One is, or an operator names the owner. */
        "EVENTS=1 ORDERS",
        /* An old beacon comes by the other fabric. */
        "EVENTS=1 OVERTAKEN=1",
        /* A fabric is cut while a group is handed over: nothing moves. */
        "EVENTS=1 CUTS=1",
        /* Both fabrics are cut, or one is and comes back. */
        "EVENTS=0 CUTS=2",
        /* A bridge is killed, while a group is handed over too, and starts again. */
        "EVENTS=1 CRASHES=1",
        "EVENTS=0 CRASHES=2",
      })
  @InWholeRun(butRows = 1)
  void noOrderOfEventsGivesAGroupTwoOwnersAndAtLastItHasOne(String definitions)
      throws IOException, InterruptedException {
    model.assertSound(definitions);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          AGREES_WITHOUT_ECHO      | forwards[0] | EVENTS=2
          TAKES_UNASKED            | forwards[0] | EVENTS=1
          TELLS_BEFORE_IT_STOPS    | forwards[0] | EVENTS=1
          STARTS_WITHOUT_LISTENING | forwards[0] | EVENTS=1
          """)
  @InWholeRun(butRows = 3)
  void aBrokenProtocolIsFound(String broken, String violated, String size)
      throws IOException, InterruptedException {
    model.assertFinds(broken, violated, size);
  }
}

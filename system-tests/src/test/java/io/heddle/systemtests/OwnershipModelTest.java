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
 * Two bridges and a group, the protocol of docs/decisions/bridge.md, in every order of events; and
 * proof that the model detects broken protocols.
 */
@Execution(ExecutionMode.CONCURRENT)
@SystemTest
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
        /* Two are drained, one after the other or both; or one twice. */
        "EVENTS=2",
        /* One is drained, or an operator names the owner. */
        "EVENTS=1 ORDERS",
        /* An old beacon comes by the other fabric. */
        "EVENTS=1 OVERTAKEN=1",
        /* A fabric is cut while a group is handed over: ownership doesn't move. */
        "EVENTS=1 CUTS=1",
        /* Both fabrics are cut, or one is and returns. */
        "EVENTS=0 CUTS=2",
        /* A bridge is killed, also during a handover, and restarts. */
        "EVENTS=1 CRASHES=1",
        "EVENTS=0 CRASHES=2",
      })
  @WholeRunOnly(butRows = 1)
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
  @WholeRunOnly(butRows = 3)
  void aBrokenProtocolIsFound(String broken, String violated, String size)
      throws IOException, InterruptedException {
    model.assertFinds(broken, violated, size);
  }
}

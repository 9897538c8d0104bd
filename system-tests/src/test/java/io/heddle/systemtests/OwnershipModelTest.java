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
 * Model check of the ownership of a group by one of two bridges, the protocol of
 * docs/decisions/bridge.md. SPIN searches every order of events. Deliberately broken protocols show
 * that the model detects errors.
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
        /* A bridge is drained, and its beacons arrive in any order. */
        "EVENTS=1",
        /*
         * Two bridges are drained, one after the other or both at once; or one bridge is drained
         * twice.
         */
        "EVENTS=2",
        /* One bridge is drained, or an operator names the owner. */
        "EVENTS=1 ORDERS",
        /* A delayed beacon arrives over the other fabric. */
        "EVENTS=1 OVERTAKEN=1",
        /* A fabric is cut while a group is handed over to the other bridge. */
        "EVENTS=1 CUTS=1",
        /* Both fabrics are cut, or one fabric is cut and returns. */
        "EVENTS=0 CUTS=2",
        /* A bridge is killed, also during a handover, and restarts. */
        "EVENTS=1 CRASHES=1",
        "EVENTS=0 CRASHES=2",
      })
  @WholeRunOnly(alwaysRunRows = 1)
  void noEventOrderCreatesTwoOwnersAndOneOwnerRemains(String definitions)
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
  @WholeRunOnly(alwaysRunRows = 3)
  void aBrokenProtocolIsFound(String broken, String violated, String size)
      throws IOException, InterruptedException {
    model.assertFinds(broken, violated, size);
  }
}

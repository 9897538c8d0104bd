package io.heddle.cli.bridge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bridge.config.BridgeConfig;
import io.heddle.platform.HeddleException;
import io.heddle.platform.ThreadAffinity;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.ProcessThreads;
import io.heddle.platform.testing.SystemTest;
import io.heddle.verbs.Gid;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Test of a bridge that spins on a processor of its own. */
@EndsWithin(60)
@SystemTest
class SpinningTest extends BridgedFabrics {
  private static final Gid GROUP = new Gid(0, 0xffff_ef01_0101L);

  @BeforeEach
  void setUp() {
    open(1500);
  }

  private BridgeConfig withCore(String core) {
    return config(
        "name = test\nstatus = " + folder.resolve("status") + core,
        "interface = e1\naddress = 10.1.0.254",
        "interface = e2\naddress = 10.2.0.254",
        List.of("[group 239.1.1.1]"));
  }

  private static String dataThread() throws IOException {
    return ProcessThreads.read("self", "heddle-bridge-d", "status")
        .orElseThrow(() -> new AssertionError("there is no data thread"));
  }

  @Test
  void dataThreadStaysOnItsProcessorAndForwards() throws IOException {
    int core = ThreadAffinity.allowed().length() - 1;
    start(withCore("\ncore = " + core));
    assertTrue(bridge.describe().contains("spins on processor " + core), bridge.describe());
    sendFrom(HOST_A, GROUP, 1);
    await(() -> fromA(0).forwarded() > 0);
    assertTrue(dataThread().contains("\nCpus_allowed_list:\t" + core + "\n"), dataThread());
    HeddleException refused =
        assertThrows(HeddleException.class, () -> bridge.reload(withCore("")));
    assertEquals(
        "core is "
            + core
            + " and can't become unset (the data thread sleeps) while the daemon runs: restart it",
        refused.getMessage());
  }

  @Test
  void rejectsAbsentProcessor() {
    HeddleException refused =
        assertThrows(HeddleException.class, () -> start(withCore("\ncore = 8000")));
    assertTrue(
        String.valueOf(refused.getMessage())
            .startsWith("core = 8000 isn't a processor that the bridge may run on; allowed are {"),
        refused.getMessage());
  }
}

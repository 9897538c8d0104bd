package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.Patience;
import io.heddle.tools.lab.Skip;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What systemd itself says of the unit that is shipped. */
@EndsWithin(120)
final class RouteServiceTest {
  private static final Path SHIPPED =
      Path.of("").toAbsolutePath().resolveSibling("packaging/heddle-bgp.service");

  @TempDir private Path folder;

  @BeforeAll
  static void assume() {
    if (!Files.isExecutable(Path.of("/usr/bin/systemd-analyze"))) {
      Skip.because("no systemd-analyze here: apt-get install systemd");
    }
  }

  @Test
  void systemdFindsNothingWrongWithTheUnit() throws Exception {
    assertEquals(List.of(), complaints(Files.readString(SHIPPED)));
  }

  @Test
  void aSettingThatSystemdDoesNotKnowWouldBeFound() throws Exception {
    String unit = Files.readString(SHIPPED);
    String misspelt = unit.replace("RuntimeDirectoryPreserve=", "RuntimeDirectoryKeep=");
    assertNotEquals(unit, misspelt);
    List<String> complaints = complaints(misspelt);
    assertTrue(
        complaints.stream().anyMatch(each -> each.contains("RuntimeDirectoryKeep")),
        complaints.toString());
  }

  /* Lines on this unit; the host's own ones may have faults too. */
  private List<String> complaints(String unit) throws IOException, InterruptedException {
    Path file = folder.resolve(SHIPPED.getFileName().toString());
    /* The command must be there; the packages put in where they have it. */
    Files.writeString(file, unit.replace("@HEDDLE@", "/bin/sh"));
    Process verify =
        new ProcessBuilder("systemd-analyze", "verify", "--man=no", file.toString())
            .redirectErrorStream(true)
            .start();
    String said = new String(verify.getInputStream().readAllBytes());
    assertTrue(Patience.ofSeconds(60).outlasts(verify));
    return said.lines().filter(line -> line.contains("heddle-bgp")).toList();
  }
}

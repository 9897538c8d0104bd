package io.heddle.tools.lab;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.HeddleException;
import io.heddle.platform.testing.SystemTest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Test of {@link StandinLab} with a script as the control program. */
@SystemTest
class StandinLabTest {
  @TempDir private Path folder;

  /* Returns a lab whose control program is a script, which records its arguments and its host. */
  private StandinLab lab(int devices, int addresses, String answers) throws IOException {
    Path control = folder.resolve("control.sh");
    Files.writeString(
        control,
        "#!/bin/sh\necho \"$STANDIN_HOST: $*\" >> '" + folder.resolve("asked") + "'\n" + answers);
    Files.setPosixFilePermissions(control, PosixFilePermissions.fromString("rwxr-xr-x"));
    return StandinLab.create(
        Lab.Kind.LOOPBACK,
        2,
        devices,
        addresses,
        new StandinLab.Parts(folder.resolve("lib").resolve("libibverbs.so.1"), control),
        folder.resolve("fabric"),
        Map.of("STANDIN_RATE_GBPS", "2"));
  }

  private List<String> recorded() throws IOException {
    return Files.readAllLines(folder.resolve("asked"));
  }

  @Test
  void devicesExistBeforeTheFirstProcessAndAreRemovedWithTheLab() throws IOException {
    try (StandinLab lab = lab(1, 1, "")) {
      assertEquals(Lab.Kind.LOOPBACK, lab.kind());
      assertEquals(List.of("0: create", "0: host 0", "1: host 1"), recorded());
    }
    assertEquals("0: remove", recorded().getLast());
  }

  @Test
  void eachAddressOfADeviceIsAPlaneOfItsHost() throws IOException {
    try (StandinLab lab = lab(2, 2, "")) {
      assertEquals(4, lab.plan().planes());
      Map<String, String> told = lab.environment(1);
      assertEquals(
          "fd00:1:1:1:0:ff:fe00:102,fd00:1:1:2:0:ff:fe00:202;"
              + "fd00:1:1:3:0:ff:fe00:302,fd00:1:1:4:0:ff:fe00:402",
          told.get("STANDIN_GIDS"));
      assertEquals("2", told.get("STANDIN_DEVICES"));
      assertEquals("1", told.get("STANDIN_HOST"));
      assertEquals("2", told.get("STANDIN_RATE_GBPS"));
      assertEquals("libibverbs", told.get("HEDDLE_PROVIDER"));
      assertEquals(folder.resolve("lib").toString(), told.get("LD_LIBRARY_PATH"));
    }
  }

  @Test
  void sentBytesAreReadByHostAndPlaneWithoutLinkLocalAddresses() throws IOException {
    String answers =
        """
        [ "$1" = show ] || exit 0
        echo 'device 0'
        echo 'gid 0/0 0 fe80::1 sent_bytes 999'
        echo 'gid 0/0 1 fd00:1:1:1::1 sent_bytes 10'
        echo 'gid 0/1 1 fd00:1:1:2::1 cut sent_bytes 20'
        echo 'gid 1/0 0 fe80::2 sent_bytes 999'
        echo 'gid 1/0 1 fd00:1:1:1::2 sent_bytes 300'
        echo 'gid 1/1 1 fd00:1:1:2::2 sent_bytes 400'
        """;
    try (StandinLab lab = lab(2, 1, answers)) {
      assertEquals(List.of(10L, 20L), lab.sentBytes(0), "a cut one too");
      assertEquals(List.of(300L, 400L), lab.sentBytes(1));
      assertEquals(List.of(310L, 420L), lab.sentBytesByPlane());
    }
  }

  @Test
  void failureOfTheControlProgramHasItsOutput() throws IOException {
    try (StandinLab lab = lab(1, 1, "[ \"$1\" = cut ] && echo no such gid && exit 1\nexit 0\n")) {
      HeddleException refused =
          assertThrows(HeddleException.class, () -> lab.control("cut", "9/9"));
      assertTrue(
          String.valueOf(refused.getMessage()).endsWith(": no such gid"),
          () -> String.valueOf(refused.getMessage()));
    }
  }

  @Test
  void failedCreationIsReportedWithoutFurtherRequests() throws IOException {
    HeddleException refused =
        assertThrows(HeddleException.class, () -> lab(1, 1, "echo file exists; exit 1\n"));
    assertTrue(String.valueOf(refused.getMessage()).endsWith(": file exists"));
    assertEquals(List.of("0: create"), recorded());
    assertFalse(Files.exists(folder.resolve("fabric")));
  }
}

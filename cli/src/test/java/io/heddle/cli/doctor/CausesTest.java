package io.heddle.cli.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.Checkout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tests that the doctor's causes are documented, and that a test provokes each of them. */
class CausesTest {
  @Test
  void causeNamesAreUniqueAndTheDocumentListsThemAll() throws Exception {
    Set<String> ids = new HashSet<>();
    List<String> all = new ArrayList<>();
    for (Check check : Checks.ALL) {
      check.causes().forEach(cause -> all.add(cause.id()));
    }
    ids.addAll(all);
    assertEquals(all.size(), ids.size(), all.toString());
    String page = Files.readString(Checkout.path("docs/doctor.md"));
    String list = Checks.list();
    if (!page.contains(list)) {
      Files.writeString(Path.of("target", "doctor-checks.md"), list);
    }
    assertTrue(
        page.contains(list), "docs/doctor.md doesn't have the list in cli/target/doctor-checks.md");
  }

  @Test
  void everyCauseIsProvokedByATest() throws Exception {
    StringBuilder tests = new StringBuilder();
    for (String module : List.of("cli", "tools")) {
      Path folder = Checkout.path(module + "/src/test/java/io/heddle/cli/doctor");
      try (Stream<Path> files = Files.list(folder)) {
        for (Path file : files.toList()) {
          tests.append(Files.readString(file));
        }
      }
    }
    tests.append(
        Files.readString(
            Checkout.path("system-tests/src/test/java/io/heddle/systemtests/OneSubnetTest.java")));
    for (Check check : Checks.ALL) {
      for (Cause cause : check.causes()) {
        assertTrue(
            tests.toString().matches("(?s).*[\" ]" + cause.id() + "[\",].*"),
            "no test makes " + cause.id());
      }
    }
  }

  @Test
  void everyUserComplaintHasACause() throws Exception {
    Set<String> known = new TreeSet<>();
    Checks.ALL.forEach(check -> check.causes().forEach(cause -> known.add(cause.id())));
    String page = Files.readString(Checkout.path("docs/doctor.md"));
    int rows = 0;
    for (String line : page.split("\n", -1)) {
      if (line.startsWith("| ") && line.contains(" | nccl#")) {
        rows++;
        String causes = line.substring(line.lastIndexOf(" | ") + 3).replace(" |", "");
        for (String cause : causes.split(", ", -1)) {
          assertTrue(known.contains(cause.replace("`", "")), cause + " of " + line);
        }
      }
    }
    assertEquals(18, rows);
  }
}

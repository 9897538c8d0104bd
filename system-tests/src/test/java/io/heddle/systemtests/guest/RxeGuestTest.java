package io.heddle.systemtests.guest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.platform.testing.WholeRunOnly;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of the guest itself: its inputs and outputs, and stock programs over rxe. */
@EndsWithin(600)
@SystemTest
final class RxeGuestTest {
  /* Script that fails if the server or the client fails. */
  private static final String STOCK_WRITE_BANDWIDTH =
      """
      ib_write_bw -F -d rxeB0 -x "$(gid_index rxeB0)" -n 100 >/tmp/server 2>&1 &
      await_listener 18515 $!
      ib_write_bw -F -d rxeA0 -x "$(gid_index rxeA0)" -n 100 127.0.0.1
      wait $!
      """;

  @TempDir private Path folder;

  @Test
  void returnsExitStatusAndOutput() throws Exception {
    Path shared = Files.createDirectory(folder.resolve("shared"));
    RxeGuest.Ended ended =
        RxeGuest.run(
            GuestPlan.bare().sharing(shared),
            folder,
            """
            echo "kernel $(uname -r) of $(grep -c ^processor /proc/cpuinfo) processors"
            echo complaint >&2
            printf 'bytes \\001\\n\\r\\377.'
            echo kept >/run/out/file
            echo gone >"%s/file"
            test -e "%s"
            sleep 1000 &
            exit 7
            """
                .formatted(folder, RxeGuest.ROOT.resolve("ARCHITECTURE.md")));
    assertEquals(7, ended.exitCode(), ended.output());
    assertTrue(
        ended.output().matches("(?s).*kernel [0-9.]+[0-9a-z-]*-amd64 of 2 proc.*"), ended.output());
    assertTrue(ended.output().contains("complaint\n"), ended.output());
    /* The output streams arrive in no fixed order, and one may be inserted into the other. */
    String standardOutput = ended.output().replaceFirst("complaint\n", "");
    assertTrue(standardOutput.contains("bytes \u0001\n\r\u00ff."), ended.output());
    assertEquals("kept\n", Files.readString(shared.resolve("file")));
    assertFalse(Files.exists(folder.resolve("file")), "the guest wrote to the host's file system");
    try (Stream<Path> left = Files.list(folder)) {
      assertEquals(
          List.of(),
          left.filter(path -> path.getFileName().toString().startsWith("tmp")).toList(),
          "its own files are removed");
    }
  }

  @Test
  @WholeRunOnly
  void aGuestThatTakesTooLongIsEnded() throws Exception {
    long began = System.nanoTime();
    RxeGuest.Ended ended =
        RxeGuest.run(GuestPlan.bare().within(10), folder, "echo begun; sleep 1000");
    assertEquals(RxeGuest.TIME_IS_UP, ended.exitCode(), ended.output());
    assertTrue(ended.output().contains("the time limit of 10 s was reached"), ended.output());
    assertTrue(System.nanoTime() - began < 60e9, "it was ended within a minute");
  }

  @Test
  @WholeRunOnly
  void distinguishesDeadGuestFromFailedCommand() throws Exception {
    RxeGuest.Ended ended =
        RxeGuest.run(GuestPlan.bare(), folder, "echo c >/proc/sysrq-trigger; sleep 1000");
    assertEquals(RxeGuest.DIED, ended.exitCode(), ended.output());
    assertTrue(ended.output().contains("sysrq triggered crash"), ended.output());
  }

  /* In a short run, {@code SoftToRxeTest} covers stock programs on rxe. */
  @Test
  @WholeRunOnly
  void stockProgramsUseRxeAndGuestsAreIsolated() throws Exception {
    RxeGuest.assumePrograms("ibv_devinfo", "ib_write_bw");
    String script = "ibv_devinfo\n" + STOCK_WRITE_BANDWIDTH;
    List<RxeGuest.Ended> both = new ArrayList<>();
    try (RxeGuest first = RxeGuest.start(GuestPlan.cables(1), folder, script);
        RxeGuest second = RxeGuest.start(GuestPlan.cables(1), folder, script)) {
      both.add(first.awaitEnd());
      both.add(second.awaitEnd());
    }
    for (RxeGuest.Ended ended : both) {
      assertEquals(0, ended.exitCode(), ended.output());
      assertTrue(ended.output().matches("(?s).*hca_id:\\s*rxeA0.*PORT_ACTIVE.*"), ended.output());
      assertTrue(ended.output().matches("(?s).*hca_id:\\s*rxeB0.*PORT_ACTIVE.*"), ended.output());
      assertTrue(ended.output().matches("(?s).*\\n 65536 +100 +[0-9.]+ .*"), ended.output());
    }
  }

  @Test
  void machineWithoutQemuNamesMissingPackages() throws Exception {
    Path tools = Files.createDirectory(folder.resolve("tools"));
    for (String tool :
        List.of("bash", "env", "readlink", "dirname", "cat", "sha256sum", "cut", "uname")) {
      Path wrapper = tools.resolve(tool);
      Files.writeString(wrapper, "#!/bin/sh\nexec /usr/bin/" + tool + " \"$@\"\n");
      assertTrue(wrapper.toFile().setExecutable(true));
    }
    ProcessBuilder builder =
        new ProcessBuilder(
                RxeGuest.ROOT.resolve("system-tests/guest/make.sh").toString(),
                folder.resolve("cache").toString())
            .redirectErrorStream(true);
    builder.environment().put("PATH", tools.toString());
    Process make = builder.start();
    String output = new String(make.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(77, make.waitFor(), output);
    assertTrue(output.startsWith("no guest here: missing: qemu-system-x86_64"), output);
    assertTrue(output.contains("packages: qemu-system-x86"), output);
    assertFalse(Files.exists(folder.resolve("cache")), "nothing was begun");
  }
}

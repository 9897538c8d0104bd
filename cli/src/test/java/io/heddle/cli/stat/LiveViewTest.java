package io.heddle.cli.stat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.Requirements;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of the live view in a pseudo-terminal, which script(1) creates. */
@EndsWithin(60)
class LiveViewTest {
  private static final String ENTER = "\u001b[?1049h\u001b[?25l";
  private static final String LEAVE = "\u001b[?25h\u001b[?1049l";
  private static final Pattern ESCAPE = Pattern.compile("\u001b\\[[0-9;?]*[A-Za-z]");
  private static final int INTERRUPT = 3;

  @TempDir Path folder;

  /*
   * Starts the live view with the default action for SIGINT. The tests may run in the background of
   * a shell, where SIGINT is ignored, and child processes inherit that.
   */
  private Process inTerminal(int columns, int rows, String... environment) throws Exception {
    if (!Files.isExecutable(Path.of("/usr/bin/script"))) {
      Requirements.skipWhere("there is no /usr/bin/script to make a terminal with");
    }
    String command =
        ("stty cols %s rows %s; exec env --default-signal=INT TERM=xterm %s '%s' --watch"
                + " --interval 0.2 --stats '%s'")
            .formatted(
                columns,
                rows,
                String.join(" ", environment),
                String.join("' '", StatProgram.start()),
                folder);
    return new ProcessBuilder(List.of("script", "-qfec", command, "/dev/null"))
        .redirectErrorStream(true)
        .start();
  }

  /* Sends ^C once the third frame has begun. Returns the whole output. */
  private static String watchAndInterrupt(Process process) throws Exception {
    StringBuilder seen = new StringBuilder();
    InputStream out = process.getInputStream();
    byte[] buffer = new byte[1 << 16];
    boolean interrupted = false;
    for (int read = out.read(buffer); read >= 0; read = out.read(buffer)) {
      seen.append(new String(buffer, 0, read, StandardCharsets.UTF_8));
      if (!interrupted && seen.toString().split(Pattern.quote("\u001b[H"), -1).length > 3) {
        interrupted = true;
        process.getOutputStream().write(INTERRUPT);
        process.getOutputStream().flush();
      }
    }
    assertTrue(Deadline.ofSeconds(10).awaitExit(process));
    return seen.toString();
  }

  @Test
  void alternateScreenIsLeftOnInterrupt() throws Exception {
    try (JobStats job = new JobStats(folder)) {
      assertFalse(job.sending.isEmpty());
      Process process = inTerminal(62, 12);
      String seen = watchAndInterrupt(process);
      assertTrue(seen.startsWith(ENTER), "begins with another screen and no cursor");
      String text = seen.replace("^C", "").stripTrailing();
      assertTrue(
          text.endsWith(LEAVE),
          "ends with cursor and first screen: " + text.substring(Math.max(0, text.length() - 200)));
      assertEquals(2, seen.split(Pattern.quote(LEAVE), -1).length, "once");
      String frame = seen.split(Pattern.quote("\u001b[H"), -1)[2];
      for (String line :
          ESCAPE
              .matcher(frame.split(Pattern.quote("\u001b[J"), -1)[0])
              .replaceAll("")
              .split("\r+\n")) {
        assertTrue(line.length() <= 62, line.length() + ": " + line);
      }
      assertTrue(frame.contains("colour:2"), frame);
      assertTrue(frame.contains("\u001b[1m"), "the header is bold");
    }
  }

  @Test
  void noColourWithNoColor() throws Exception {
    try (JobStats job = new JobStats(folder)) {
      assertFalse(job.sending.isEmpty());
      String seen = watchAndInterrupt(inTerminal(100, 20, "NO_COLOR=1"));
      assertTrue(seen.startsWith(ENTER), seen);
      assertFalse(Pattern.compile("\u001b\\[[0-9]+m").matcher(seen).find(), "a colour");
    }
  }
}

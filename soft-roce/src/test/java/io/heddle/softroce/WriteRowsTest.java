package io.heddle.softroce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What C does with rows of packets, against what Java does with them packet by packet. */
class WriteRowsTest {
  private static final Path LIBRARY = Path.of("../native/target/build/libpackets_of_tests.so");

  @TempDir Path folder;

  @Test
  void rowsTakenInCHaveTheEffectsThatPacketsTakenInJavaHave() throws Exception {
    assumeTrue(
        Files.isReadable(LIBRARY),
        () -> LIBRARY.toAbsolutePath().normalize() + " isn't built: mvn -pl native verify");
    long seed = Long.getLong("heddle.seed", System.nanoTime());
    System.out.println("WriteRowsTest -Dheddle.seed=" + seed);
    Path output = folder.resolve("output");
    Process run =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                WriteRowsRun.class.getName(),
                LIBRARY.toString(),
                Long.toString(seed))
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      assertTrue(run.waitFor(120, TimeUnit.SECONDS), "it ends");
    } finally {
      run.destroyForcibly();
    }
    assumeTrue(run.exitValue() != 3, "this processor lacks PCLMULQDQ");
    assertEquals(0, run.exitValue(), () -> text(output));
  }

  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (java.io.IOException failed) {
      return failed.toString();
    }
  }
}

package io.heddle.bpf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.HeddleException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that bytes which are no program, and programs that the kernel rejects, are refused with the
 * reason.
 */
final class BpfObjectTest {
  private static final String PASSES =
      """
      #include <linux/bpf.h>
      __attribute__((section("tc"), used)) int passes(struct __sk_buff *packet)
      {
        return packet->len == 0;
      }
      char licence[] __attribute__((section("license"), used)) = "GPL";
      """;
  /* Reads the packet's first byte without a bounds check. */
  private static final String READS_BEYOND =
      PASSES
          + """
          __attribute__((section("tc"), used)) int beyond(struct __sk_buff *packet)
          {
            return *(unsigned char *)(unsigned long)packet->data;
          }
          """;

  @TempDir private Path folder;

  @BeforeEach
  void loadsPrograms() {
    Optional<String> refusal = new BpfObject(new byte[0]).refusal();
    refusal.ifPresent(reason -> {
      System.out.println("skipped: " + reason);
      Assumptions.abort(reason);
    });
  }

  @Test
  void rejectsBytesThatAreNoObject() {
    HeddleException refusal =
        assertThrows(HeddleException.class, () -> new BpfObject(new byte[64]).load("any"));
    assertTrue(
        String.valueOf(refusal.getMessage()).contains("bpf_object__open"), refusal::toString);
  }

  @Test
  void buildWithoutProgramNamesClangAndTheInstallCommand() {
    String refusal = new BpfObject(null).refusal().orElseThrow();
    assertTrue(refusal.contains("apt-get install clang, and build again"), refusal);
    HeddleException failed =
        assertThrows(HeddleException.class, () -> new BpfObject(null).load("any"));
    assertEquals(refusal, failed.getMessage());
  }

  @Test
  void namesProgramMissingFromObject() throws Exception {
    BpfObject object = compiled(PASSES);
    IllegalArgumentException refusal =
        assertThrows(IllegalArgumentException.class, () -> object.load("other"));
    assertEquals("the object has no program other", refusal.getMessage());
  }

  @Test
  void exceptionHasVerifiersLastLines() throws Exception {
    BpfObject object = compiled(READS_BEYOND);
    HeddleException refusal = assertThrows(HeddleException.class, () -> object.load("beyond"));
    String said = String.valueOf(refusal.getMessage());
    assertTrue(said.startsWith("the kernel rejects the program beyond: "), said);
    assertTrue(said.contains("invalid access to packet"), said);
  }

  private BpfObject compiled(String text) throws IOException, InterruptedException {
    Path source = Files.writeString(folder.resolve("program.c"), text);
    Path object = folder.resolve("program.o");
    Process compiler =
        new ProcessBuilder("sh", "compile.sh", source.toString(), object.toString())
            .inheritIO()
            .start();
    assertEquals(0, compiler.waitFor(), "compile.sh");
    if (!Files.exists(object)) {
      System.out.println("skipped: clang isn't installed");
      Assumptions.abort("clang isn't installed");
    }
    return new BpfObject(Files.readAllBytes(object));
  }
}

package io.heddle.verbs.libibverbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.heddle.jextract.Verbs;
import io.heddle.platform.Errno;
import io.heddle.verbs.VerbsException;
import io.heddle.verbs.libibverbs.Verb.Report;
import java.lang.foreign.AddressLayout;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class VerbTest {
  /** The bindings are those of rdma-core 44, and the library may be as old. */
  @ParameterizedTest
  @EnumSource(names = "QUERY_PORT_SPEED", mode = EnumSource.Mode.EXCLUDE)
  void everyVerbMatchesBindings(Verb verb) throws Exception {
    assumeTrue(Verb.isLibraryPresent(), Verb.LIBRARY + " isn't installed");
    FunctionDescriptor declared =
        (FunctionDescriptor) Verbs.class.getMethod(verb.symbol() + "$descriptor").invoke(null);
    assertEquals(declared.argumentLayouts().size(), verb.arguments());
    assertTrue(
        declared.argumentLayouts().stream().noneMatch(VerbTest::isFloatingPoint),
        "goes in an integer register: " + declared);
    boolean returnsPointer = declared.returnLayout().orElse(null) instanceof AddressLayout;
    assertEquals(verb.report() == Report.POINTER, returnsPointer, declared.toString());
    assertEquals(verb.report() == Report.NOTHING, declared.returnLayout().isEmpty());
    assertTrue(verb.isPresent(), "in the library of this machine");
  }

  private static boolean isFloatingPoint(MemoryLayout layout) {
    return layout.equals(Verbs.C_FLOAT) || layout.equals(Verbs.C_DOUBLE);
  }

  @Test
  void aFailureNamesVerbObjectAndErrno() {
    VerbsException failure = Verb.MODIFY_QP.failure("rxe0 queue pair 0x11 to RTR", 22);
    assertEquals(
        "modify_qp on rxe0 queue pair 0x11 to RTR failed: EINVAL (22)", failure.getMessage());
  }

  @Test
  void inaccessibleDeviceNodeNamesRemedy() {
    VerbsException failure = Verb.OPEN_DEVICE.failure("device mlx5_0", Errno.EACCES);
    assertTrue(failure.getMessage().contains("EACCES (13); this user may not"), failure.toString());
    assertTrue(failure.getMessage().contains("/dev/infiniband"), failure.toString());
  }

  @ParameterizedTest
  @CsvSource({
    "65536, 00000000a80425fb, true", /* default capabilities in a container */
    "65536, 000001ffffffffff, false", /* all capabilities */
    "unlimited, 00000000a80425fb, false"
  })
  void lockedMemoryIsBlamedOnlyWhenLimited(
      String soft, String capabilities, boolean blamed, @TempDir Path process) throws Exception {
    Files.writeString(process.resolve("status"), "Name:\tjava\nCapEff:\t" + capabilities + "\n");
    Files.writeString(
        process.resolve("limits"),
        """
        Limit                     Soft Limit           Hard Limit           Units
        Max processes             127234               127234               processes
        Max locked memory         %-20s unlimited            bytes
        """
            .formatted(soft));

    String advice = ErrorRemedies.onLockedMemory(process);

    assertEquals(blamed, advice.contains("65536 bytes of memory (ulimit -l)"), advice);
    assertEquals(!blamed, advice.isEmpty(), advice);
  }
}

package io.heddle.cli.doctor;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class KernelCheckTest {
  @Test
  void kernelVersionIsParsedFromReleaseNames() {
    assertTrue(KernelCheck.version("4.15.0-generic") instanceof Finding.Warning);
    assertTrue(KernelCheck.version("5.14.0-427.el9") instanceof Finding.Ok);
    assertTrue(KernelCheck.version("?") instanceof Finding.Unknown);
  }

  @Test
  void neighbourOverflowsAreSummedOverProcessors() {
    String names = "entries  allocs   destroys table_fulls\n";
    String none =
        names + "00000001 00000002 00000003 00000000\n00000001 00000002 00000003 00000000";
    String some =
        names + "00000001 00000002 00000003 0000940a\n00000001 00000002 00000003 00000010";
    assertTrue(KernelCheck.neighbours(none, "1024") instanceof Finding.Ok);
    Finding full = KernelCheck.neighbours(some, "1024");
    assertTrue(full instanceof Finding.Warning);
    assertTrue(full.toString().contains("37914 times"), full.toString());
    assertTrue(full.toString().contains("neighbours-full"), full.toString());
    assertTrue(KernelCheck.neighbours(some, null) instanceof Finding.Warning);
    assertTrue(KernelCheck.neighbours(some, "16384") instanceof Finding.Ok, "it was raised since");
    assertTrue(KernelCheck.neighbours("entries\n00000001", "1024") instanceof Finding.Unknown);
  }
}

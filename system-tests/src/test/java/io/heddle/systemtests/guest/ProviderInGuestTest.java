package io.heddle.systemtests.guest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The libibverbs provider's own tests, which are skipped where there is no device, on the kernel's
 * rxe: both ends of a cable, and addresses and links that the tests may change.
 */
@Timeout(600)
final class ProviderInGuestTest {
  private static final String TESTS = "io.heddle.verbs.libibverbs.";

  @TempDir private Path folder;

  /* C1 and the serial collector: with others a JVM under emulation was seen to die of code that it had just patched. */
  private static String java(String devices, String... classes) {
    StringBuilder command =
        new StringBuilder("\"$HEDDLE_JAVA_HOME/bin/java\" --enable-native-access=ALL-UNNAMED")
            .append(" -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx512m")
            .append(" -Dheddle.test.change=true -Dheddle.test.devices=")
            .append(devices)
            .append(" -cp '")
            .append(System.getProperty("java.class.path"))
            .append("' ")
            .append(TestRun.class.getName());
    for (String name : classes) {
      command.append(' ').append(TESTS).append(name);
    }
    return command.toString();
  }

  @Test
  void itKeepsItsContractAndFollowsAddressesOnRxe() throws Exception {
    RxeGuest.Ended ended =
        RxeGuest.run(
            GuestPlan.cables(1),
            folder,
            java(
                "rxeA0,rxeB0",
                "LibibverbsContractTest",
                "DeviceTest",
                "DatagramTest",
                "AllocationTest",
                "AddressChangeTest"));
    assertEquals(0, ended.exitCode(), ended.output());
    assertTrue(
        ended.output().matches("(?s).*\\d{2} passed, 0 failed, 0 skipped.*"), ended.output());
  }

  @Test
  void aKernelWithVerbsAndNoDeviceHasNone() throws Exception {
    RxeGuest.Ended ended =
        RxeGuest.run(GuestPlan.bare(), folder, "load_rdma\n" + java("", "DeviceTest"));
    assertEquals(0, ended.exitCode(), ended.output());
    assertTrue(
        ended.output().contains("libibverbs: no devices (the list is empty)"), ended.output());
    assertTrue(ended.output().contains("SKIPPED DeviceTest"), ended.output());
  }
}

package io.heddle.systemtests.guest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.platform.testing.WholeRunOnly;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Test that runs the libibverbs provider's own tests in a guest, with the kernel's rxe. On a host
 * without a device they would be skipped. The guest has both ends of a cable, and the tests may
 * change its addresses and links.
 */
@EndsWithin(600)
@SystemTest
final class ProviderInGuestTest {
  private static final String TESTS = "io.heddle.verbs.libibverbs.";

  @TempDir private Path folder;

  private static String java(String devices, String... classes) {
    return RxeGuest.java(
        List.of("-Dheddle.test.change=true", "-Dheddle.test.devices=" + devices),
        TestRun.class,
        Stream.of(classes).map(TESTS::concat).toArray(String[]::new));
  }

  @Test
  void providerTestsPassOnRxe() throws Exception {
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
  @WholeRunOnly
  void kernelWithoutDeviceListsNone() throws Exception {
    RxeGuest.Ended ended =
        RxeGuest.run(GuestPlan.bare(), folder, "load_rdma\n" + java("", "DeviceTest"));
    assertEquals(0, ended.exitCode(), ended.output());
    assertTrue(
        ended.output().contains("libibverbs: no devices (the list is empty)"), ended.output());
    assertTrue(ended.output().contains("SKIPPED DeviceTest"), ended.output());
  }
}

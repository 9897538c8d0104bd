package io.heddle.softdevice;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.heddle.platform.Errno;
import io.heddle.platform.LeakLedger;
import io.heddle.platform.Log;
import io.heddle.platform.MemoryCalls;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.ProtectionDomain.Access;
import io.heddle.verbs.VerbsException;
import io.heddle.verbs.testing.ProviderContract;
import java.util.EnumSet;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Tests the provider contract for the soft device, between two contexts on the IPv6 loopback. */
class SoftProviderContractTest extends ProviderContract {
  @Override
  protected DeviceContext openLeft(LeakLedger ledger) {
    return open(ledger);
  }

  @Override
  protected DeviceContext openRight(LeakLedger ledger) {
    return open(ledger);
  }

  private static DeviceContext open(LeakLedger ledger) {
    return new SoftProvider()
        .devices(Map.of("HEDDLE_PLANES", "::1=loop"), Log.toStandardError(), ledger)
        .getFirst()
        .open();
  }

  @Override
  protected int leftGidIndex(DeviceContext context) {
    return 0;
  }

  @Override
  protected int rightGidIndex(DeviceContext context) {
    return 0;
  }

  private void refused(int errno, long address, long lengthBytes) {
    VerbsException refusal =
        assertThrows(
            VerbsException.class,
            () -> left.pd.registerMemory(address, lengthBytes, EnumSet.of(Access.LOCAL_WRITE)),
            () -> "%s bytes at %#x".formatted(lengthBytes, address));
    assertEquals(errno, refusal.errno(), refusal::getMessage);
  }

  @Test
  void partlyMappedMemoryIsRefused() {
    long page = 65_536; /* the largest page size in use */
    long memory = MemoryCalls.mapMemory(4 * page);
    assertEquals(0, MemoryCalls.unmapMemory(memory + page, page));
    assertEquals(0, MemoryCalls.unmapMemory(memory + 3 * page, page));
    try {
      refused(Errno.EFAULT, memory + page, 1);
      refused(Errno.EFAULT, memory, page + 1);
      refused(Errno.EFAULT, memory + page - 1, 2);
      refused(Errno.EFAULT, memory + 2 * page, page + 1);
      refused(Errno.EFAULT, memory, 3 * page);
      refused(Errno.EFAULT, memory, Long.MAX_VALUE - memory);
      refused(Errno.EFAULT, 4096, 1);
      refused(Errno.EINVAL, memory, Long.MAX_VALUE);
      refused(Errno.EINVAL, memory, Long.MAX_VALUE - memory + 1);
      refused(Errno.EINVAL, memory, 0);
      refused(Errno.EINVAL, memory, -1);
      refused(Errno.EINVAL, -1, 1);
      for (long from : new long[] {memory, memory + page - 1, memory + 2 * page + 7}) {
        long end = from < memory + page ? memory + page : memory + 3 * page;
        left.pd.registerMemory(from, end - from, EnumSet.of(Access.LOCAL_WRITE)).close();
      }
    } finally {
      MemoryCalls.unmapMemory(memory, page);
      MemoryCalls.unmapMemory(memory + 2 * page, page);
    }
  }

  /* Uses random offsets in a page, with lengths that exceed the page by at least a byte. */
  @Test
  void lengthBeyondMappingIsRefused() {
    long page = 65_536;
    long memory = MemoryCalls.mapMemory(3 * page);
    assertEquals(0, MemoryCalls.unmapMemory(memory + page, 2 * page));
    try {
      Random random = new Random(4711);
      for (int i = 0; i < 2_000; i++) {
        long offset = random.nextLong(page);
        long most = page - offset;
        long beyond = random.nextBoolean() ? random.nextLong(page) : random.nextLong() >>> 2;
        boolean ends = beyond <= Long.MAX_VALUE - memory - page;
        refused(
            ends ? Errno.EFAULT : Errno.EINVAL,
            memory + offset,
            most + 1 + beyond & Long.MAX_VALUE);
      }
    } finally {
      MemoryCalls.unmapMemory(memory, page);
    }
  }
}

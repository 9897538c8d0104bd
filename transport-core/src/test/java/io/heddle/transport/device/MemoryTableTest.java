package io.heddle.transport.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.verbs.MemoryRegion;
import io.heddle.verbs.ProtectionDomain;
import io.heddle.verbs.ProtectionDomain.Access;
import java.lang.reflect.Proxy;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MemoryTableTest {
  private final List<Set<Access>> registered = new ArrayList<>();

  private final List<Integer> closed = new ArrayList<>();

  private record Region(long address, long lengthBytes, int key, List<Integer> closed)
      implements MemoryRegion {
    @Override
    public int lkey() {
      return key;
    }

    @Override
    public int rkey() {
      return -key;
    }

    @Override
    public void close() {
      closed.add(key);
    }
  }

  private ProtectionDomain domain() {
    return (ProtectionDomain)
        Proxy.newProxyInstance(
            ProtectionDomain.class.getClassLoader(),
            new Class<?>[] {ProtectionDomain.class},
            (proxy, method, arguments) -> {
              boolean dmaBuf = method.getName().equals("registerDmaBuf");
              assertTrue(dmaBuf || method.getName().equals("registerMemory"), method.getName());
              @SuppressWarnings("unchecked")
              Set<Access> access = (Set<Access>) arguments[dmaBuf ? 4 : 2];
              registered.add(access);
              return new Region(
                  (long) arguments[dmaBuf ? 3 : 0],
                  (long) arguments[dmaBuf ? 2 : 1],
                  registered.size(),
                  closed);
            });
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void dataIsRegisteredInRelaxedOrderOnlyWhereThatIsAllowed(boolean relaxed) {
    new MemoryTable(domain(), new MemoryTable.Rules(relaxed, true)).register(4096, 100);
    Set<Access> expected = EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.REMOTE_READ);
    if (relaxed) {
      expected.add(Access.RELAXED_ORDERING);
    }
    assertEquals(List.of(expected), registered);
  }

  @Test
  void eachRegistrationHasItsOwnRegion() {
    MemoryTable table = new MemoryTable(domain(), new MemoryTable.Rules(true, true));
    long first = table.register(4096, 8192);
    long same = table.register(4096, 8192);
    long inside = table.register(5000, 100);
    assertEquals(3, registered.size());
    assertEquals(Set.of(table.keys(first), table.keys(same), table.keys(inside)).size(), 3);
    long keys = table.keys(same);
    assertTrue(table.deregister(first));
    assertEquals(List.of(1), closed, "the keys of those that are closed");
    assertEquals(0, table.keys(first));
    assertEquals(keys, table.keys(same));
    assertFalse(table.deregister(first));
    assertTrue(table.deregister(inside));
    assertEquals(List.of(1, 3), closed);
    /* The address was registered before, and may be another mapping now. */
    assertEquals(inside, table.register(4096, 8192), "a handle that is free");
    assertEquals(4, registered.size());
  }

  @Test
  void eachOfManyHandlesIsValidOnce() {
    MemoryTable table = new MemoryTable(domain(), new MemoryTable.Rules(true, true));
    Set<Long> handles = new HashSet<>();
    for (int i = 0; i < 1000; i++) {
      assertTrue(handles.add(table.register(4096, 100)));
    }
    for (long handle : handles) {
      assertTrue(table.deregister(handle));
      assertFalse(table.deregister(handle));
    }
    for (int i = 0; i < 1000; i++) {
      assertTrue(handles.contains(table.register(4096, 100)));
    }
  }

  /*
   * A host may pass any number. Only ranges of addresses reach the device, and only the table's own
   * handles are valid.
   */
  @Test
  void invalidRangesAndHandlesAreRefused() {
    MemoryTable table = new MemoryTable(domain(), new MemoryTable.Rules(true, true));
    Random random = new Random(4711);
    long handle = table.register(4096, 100);
    for (int i = 0; i < 200_000; i++) {
      long address = any(random);
      long bytes = any(random);
      BigInteger end = BigInteger.valueOf(address).add(BigInteger.valueOf(bytes));
      boolean isRange =
          address > 0 && bytes > 0 && end.compareTo(BigInteger.valueOf(Long.MAX_VALUE)) <= 0;
      int before = registered.size();
      long made = table.register(address, bytes, MemoryTable.HOST_MEMORY);
      assertEquals(isRange, made > 0, () -> bytes + " at " + address);
      assertEquals(isRange ? 1 : 0, registered.size() - before);
      assertTrue(!isRange || table.deregister(made));
      long offset = any(random);
      boolean isPart =
          isRange
              && offset >= 0
              && BigInteger.valueOf(offset)
                      .add(BigInteger.valueOf(bytes))
                      .compareTo(BigInteger.valueOf(Long.MAX_VALUE))
                  <= 0;
      made = table.registerDmaBuf(address, bytes, MemoryTable.DEVICE_MEMORY, offset, 3);
      assertEquals(isPart, made > 0, () -> bytes + " at " + address + " of offset " + offset);
      assertTrue(!isPart || table.deregister(made));
      if (address != handle) {
        assertEquals(0, table.keys(address));
        assertFalse(table.isOnDevice(address));
        assertFalse(table.deregister(address));
      }
    }
  }

  /*
   * Returns a random number; half of the numbers are near 0 or near a limit of the range of long.
   */
  private static long any(Random random) {
    long near = random.nextLong(-3, 4);
    return switch (random.nextInt(6)) {
      case 0 -> near;
      case 1 -> Long.MAX_VALUE - Math.abs(near);
      case 2 -> Long.MIN_VALUE + Math.abs(near);
      case 3 -> (1L << random.nextInt(63)) + near;
      case 4 -> random.nextLong(1L << 47);
      default -> random.nextLong();
    };
  }
}

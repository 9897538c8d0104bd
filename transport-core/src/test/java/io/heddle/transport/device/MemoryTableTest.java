package io.heddle.transport.device;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.heddle.verbs.MemoryRegion;
import io.heddle.verbs.ProtectionDomain;
import io.heddle.verbs.ProtectionDomain.Access;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MemoryTableTest {
  private final List<Set<Access>> registered = new ArrayList<>();

  private record Region(long address, long lengthBytes) implements MemoryRegion {
    @Override
    public int lkey() {
      return 1;
    }

    @Override
    public int rkey() {
      return 2;
    }

    @Override
    public void close() {}
  }

  private ProtectionDomain domain() {
    return (ProtectionDomain)
        Proxy.newProxyInstance(
            ProtectionDomain.class.getClassLoader(),
            new Class<?>[] {ProtectionDomain.class},
            (proxy, method, arguments) -> {
              assertEquals("registerMemory", method.getName());
              @SuppressWarnings("unchecked")
              Set<Access> access = (Set<Access>) arguments[2];
              registered.add(access);
              return new Region((long) arguments[0], (long) arguments[1]);
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
  void aRangeInsideOneThatIsRegisteredIsNotRegisteredAgain() {
    MemoryTable table = new MemoryTable(domain(), new MemoryTable.Rules(true, true));
    long whole = table.register(4096, 8192);
    assertEquals(whole, table.register(5000, 100));
    assertEquals(1, registered.size());
    assertEquals(1L << 32 | 2, table.keys(whole));
  }
}

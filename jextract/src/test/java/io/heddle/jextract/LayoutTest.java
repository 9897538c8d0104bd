package io.heddle.jextract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.GroupLayout;
import java.lang.foreign.MemoryLayout;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The bindings against the C compiler and the headers that this machine has. */
class LayoutTest {
  @TempDir Path folder;

  @BeforeEach
  void needACompilerAndTheHeaders() throws Exception {
    CompilerFacts.assumeCompilerAndHeader(folder);
  }

  @Test
  void everyLayoutIsWhatTheCompilerMakesOfTheHeader() throws Exception {
    List<BoundLayout> layouts = BoundLayout.all();
    assertTrue(layouts.size() > 50, "only " + layouts.size() + " layouts found");

    Map<String, String> differences = differences(layouts);

    assertEquals(Map.of(), differences, "Java against C");
  }

  @Test
  void aLayoutWithTwoFieldsExchangedIsFound() throws Exception {
    GroupLayout right = ibv_wc.layout();
    List<MemoryLayout> members = new ArrayList<>(right.memberLayouts());
    assertNotEquals(members.get(0).byteSize(), members.get(1).byteSize());
    MemoryLayout first = members.remove(0);
    members.add(1, first.withByteAlignment(1));
    GroupLayout wrong =
        MemoryLayout.structLayout(members.toArray(MemoryLayout[]::new)).withName("ibv_wc");

    Map<String, String> differences = differences(List.of(new BoundLayout("ibv_wc", wrong)));

    assertTrue(differences.containsKey("ibv_wc.wr_id:offset"), differences.toString());
    assertTrue(differences.containsKey("ibv_wc.status:offset"), differences.toString());
  }

  @Test
  void everyConstantHasTheHeadersValue() throws Exception {
    CompilerFacts compiler = new CompilerFacts();
    Map<String, Long> bound = new LinkedHashMap<>();
    for (Method method : VerbsConstants.class.getDeclaredMethods()) {
      if (Modifier.isPublic(method.getModifiers())
          && method.getParameterCount() == 0
          && method.invoke(null) instanceof Number value) {
        bound.put(method.getName(), value.longValue());
        /* An enumerator is an int in C, whatever its highest bit says. */
        compiler.ask(
            method.getName(),
            value instanceof Integer ? "(int)(" + method.getName() + ")" : method.getName());
      }
    }
    assertTrue(bound.size() > 300, "only " + bound.size() + " constants found");
    assertEquals(bound, compiler.answer(folder));
  }

  /**
   * By name of the fact, where Java and C don't agree, and the growth isn't one that is allowed.
   */
  private Map<String, String> differences(List<BoundLayout> layouts) throws Exception {
    CompilerFacts compiler = new CompilerFacts();
    layouts.forEach(layout -> layout.ask(compiler));
    Map<String, Long> inC = compiler.answer(folder);
    Map<String, String> differences = new LinkedHashMap<>();
    for (BoundLayout layout : layouts) {
      layout
          .facts()
          .forEach((fact, inJava) -> {
            long c = inC.getOrDefault(fact, -1L);
            boolean grown = fact.equals(layout.name() + ":size") && layout.mayGrow();
            if (grown ? c < inJava : c != inJava) {
              differences.put(fact, "Java %s, C %s".formatted(inJava, c));
            }
          });
    }
    return differences;
  }
}

package io.heddle.jextract;

import java.io.IOException;
import java.lang.foreign.GroupLayout;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.PaddingLayout;
import java.lang.foreign.StructLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * One struct or union of the bindings, as facts that C can be asked for: its size and alignment,
 * and the offset and size of each field, through nested structs and anonymous unions.
 *
 * @param name C's name, without {@code struct} or {@code union}
 */
record BoundLayout(String name, GroupLayout layout) {
  /**
   * Structs that the library makes itself, or takes with a size or a mask of fields: a later
   * rdma-core may make them longer. All others keep their size for as long as the library keeps its
   * SONAME.
   */
  private static final Set<String> MAY_GROW =
      Set.of(
          "verbs_context",
          "ibv_cq_ex",
          "ibv_qp_ex",
          "ibv_port_attr",
          "ibv_gid_entry",
          "ibv_device_attr_ex",
          "ibv_qp_init_attr_ex",
          "ibv_cq_init_attr_ex",
          "ibv_parent_domain_init_attr",
          "ibv_td_init_attr",
          "ibv_modify_cq_attr",
          "ibv_poll_cq_attr",
          "ibv_query_device_ex_input");

  /* verbs_context grows at its front: its fields count back from the ibv_context at its end. */
  private static final String GROWS_AT_ITS_FRONT = "verbs_context";

  private record Field(String path, long offset, long size) {}

  /** Every layout among the compiled bindings. */
  static List<BoundLayout> all() throws Exception {
    Path folder =
        Path.of(Verbs$shared.class.getProtectionDomain().getCodeSource().getLocation().toURI())
            .resolve(BoundLayout.class.getPackageName().replace('.', '/'));
    List<BoundLayout> layouts = new ArrayList<>();
    for (String type : topLevelClasses(folder)) {
      Class<?> bound = Class.forName(BoundLayout.class.getPackageName() + "." + type);
      for (var method : bound.getMethods()) {
        if (method.getName().equals("layout") && method.invoke(null) instanceof GroupLayout group) {
          layouts.add(new BoundLayout(type, group));
        }
      }
    }
    return layouts;
  }

  private static List<String> topLevelClasses(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(file -> file.endsWith(".class") && !file.contains("$"))
          .map(file -> file.substring(0, file.length() - ".class".length()))
          .sorted()
          .toList();
    }
  }

  boolean mayGrow() {
    return MAY_GROW.contains(name);
  }

  /** Returns the values that Java expects, by name of the fact. */
  Map<String, Long> facts() {
    Map<String, Long> facts = new LinkedHashMap<>();
    facts.put(name + ":size", layout.byteSize());
    facts.put(name + ":alignment", layout.byteAlignment());
    long from =
        name.equals(GROWS_AT_ITS_FRONT)
            ? layout.byteOffset(PathElement.groupElement("context"))
            : 0;
    for (Field field : fields()) {
      facts.put(name + "." + field.path + ":offset", field.offset - from);
      facts.put(name + "." + field.path + ":size", field.size);
    }
    return facts;
  }

  /** Asks C for the same facts, under the same names. */
  void ask(CompilerFacts compiler) {
    /* C can't be asked which of the two a name is; verbs.h's own habit decides. */
    String type =
        name.endsWith("_t") ? name : (layout instanceof StructLayout ? "struct " : "union ") + name;
    String from =
        name.equals(GROWS_AT_ITS_FRONT) ? " - (long)offsetof(%s, context)".formatted(type) : "";
    compiler.ask(name + ":size", "sizeof(%s)".formatted(type));
    compiler.ask(name + ":alignment", "alignof(%s)".formatted(type));
    for (Field field : fields()) {
      compiler.ask(
          name + "." + field.path + ":offset",
          "(long)offsetof(%s, %s)%s".formatted(type, field.path, from));
      compiler.ask(
          name + "." + field.path + ":size", "sizeof(((%s *)0)->%s)".formatted(type, field.path));
    }
  }

  private List<Field> fields() {
    List<Field> fields = new ArrayList<>();
    collect(layout, "", 0, fields);
    return fields;
  }

  private static void collect(GroupLayout group, String prefix, long base, List<Field> fields) {
    long at = base;
    for (MemoryLayout member : group.memberLayouts()) {
      long offset = group instanceof StructLayout ? at : base;
      at += member.byteSize();
      String name = member.name().orElse("");
      /* opaque: the inside of the pthread types, which nobody names. */
      if (member instanceof PaddingLayout || name.equals("opaque")) {
        continue;
      }
      boolean anonymous = name.startsWith("$anon$");
      if (!anonymous) {
        fields.add(new Field(prefix + name, offset, member.byteSize()));
      }
      if (member instanceof GroupLayout inner) {
        collect(inner, anonymous ? prefix : prefix + name + ".", offset, fields);
      }
    }
  }
}

package io.heddle.systemtests.style;

import com.tngtech.archunit.core.domain.JavaClass;
import java.util.Set;

/** Which module a class belongs to. */
final class ModuleNames {
  private static final String ROOT_PACKAGE = "io.heddle.";
  private static final Set<String> FAMILIES = Set.of("roce", "cli", "fabric");

  private ModuleNames() {}

  /**
   * The name of the module's root package, without what all have in common. A family's modules have
   * a name more. Of a class that isn't ours, its package.
   */
  static String of(JavaClass type) {
    String name = type.getPackageName();
    if (!name.startsWith(ROOT_PACKAGE)) {
      return name;
    }
    String[] rest = name.substring(ROOT_PACKAGE.length()).split("\\.");
    return rest.length > 1 && FAMILIES.contains(rest[0]) ? rest[0] + "." + rest[1] : rest[0];
  }
}

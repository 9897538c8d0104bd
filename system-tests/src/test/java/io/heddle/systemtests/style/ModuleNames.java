package io.heddle.systemtests.style;

import com.tngtech.archunit.core.domain.JavaClass;
import java.util.Set;

/** Names of the modules to which classes belong. */
final class ModuleNames {
  private static final String ROOT_PACKAGE = "io.heddle.";
  private static final Set<String> FAMILIES = Set.of("roce", "cli", "tools", "fabric");

  private ModuleNames() {}

  /**
   * Returns the name of the root package of a class's module, without the common prefix. It has two
   * parts if the module is one of a family, such as roce. For a class that isn't Heddle's, returns
   * its package.
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

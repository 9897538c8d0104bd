package io.heddle.systemtests.style;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;

/** Compiled production classes of all modules, read once for all tests. */
final class ImportedClasses {
  private static final JavaClasses ALL = read();

  private ImportedClasses() {}

  private static JavaClasses read() {
    try {
      return new ClassFileImporter().importPaths(Repository.classFolders());
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  static JavaClasses all() {
    return ALL;
  }

  /** Returns the folder of the class's module, relative to the checkout. */
  static String folder(JavaClass type) {
    Path file = Path.of(type.getSource().orElseThrow().getUri());
    String name = Repository.name(file);
    return name.substring(0, name.indexOf("/target/"));
  }
}

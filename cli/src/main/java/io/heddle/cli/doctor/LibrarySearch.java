package io.heddle.cli.doctor;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Search for a library by the rules of the dynamic linker: dlopen(3). */
final class LibrarySearch {
  private final List<Path> folders = new ArrayList<>();
  private @Nullable String cache;

  LibrarySearch(Map<String, String> environment) {
    for (String folder : environment.getOrDefault("LD_LIBRARY_PATH", "").split("[:;]")) {
      if (!folder.isEmpty()) {
        folders.add(Path.of(folder));
      }
    }
  }

  /** Returns the file that dlopen would open for this name; null if there is none. */
  @Nullable Path find(String name) {
    if (name.contains("/")) {
      return Files.isRegularFile(Path.of(name)) ? Path.of(name) : null;
    }
    for (Path folder : folders) {
      if (Files.isRegularFile(folder.resolve(name))) {
        return folder.resolve(name);
      }
    }
    for (String line : cache().split("\n")) {
      int arrow = line.indexOf(" => ");
      if (arrow > 0 && line.strip().startsWith(name + " ")) {
        return Path.of(line.substring(arrow + 4).strip());
      }
    }
    for (String folder : List.of("/lib64", "/usr/lib64", "/lib", "/usr/lib")) {
      if (Files.isRegularFile(Path.of(folder, name))) {
        return Path.of(folder, name);
      }
    }
    return null;
  }

  private String cache() {
    String known = cache;
    if (known == null) {
      known = "";
      try {
        Process process = new ProcessBuilder("/sbin/ldconfig", "-p").start();
        known = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      } catch (IOException absent) {
        /* Without the linker's cache, for example with musl, only folders are searched. */
      }
      cache = known;
    }
    return known;
  }

  /** Returns the searched folders as part of a sentence. */
  String description() {
    return folders.isEmpty()
        ? "the linker's cache (LD_LIBRARY_PATH is empty)"
        : "LD_LIBRARY_PATH="
            + String.join(":", folders.stream().map(Path::toString).toList())
            + " and the linker's cache";
  }
}

package io.heddle.cli.doctor;

import io.heddle.routes.RoutesPath;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** Host whose environment and folders a test of the doctor prepares and examines. */
abstract class ExaminedHost {
  @TempDir Path folder;

  Path plugin;
  @Nullable Path config;

  @BeforeEach
  final void installPlugin() throws Exception {
    Path home = Files.createDirectories(folder.resolve("heddle"));
    plugin = Files.createFile(home.resolve("libnccl-net-heddle.so"));
    Files.createFile(home.resolve("heddle-plugin.jar"));
    Files.createDirectories(folder.resolve("stats"));
  }

  Path routes() {
    return folder.resolve("routes");
  }

  List<DoctorCommand.Entry> examine(Map<String, String> environment, Check... checks) {
    return examine(environment, List.of(checks));
  }

  List<DoctorCommand.Entry> examine(Map<String, String> environment, List<Check> checks) {
    Path routes = RoutesPath.of(environment.getOrDefault("HEDDLE_ROUTES", "" + routes()));
    Host.Places places =
        new Host.Places(
            plugin, routes, folder.resolve("bgp.sock"), config, folder.resolve("stats"));
    return DoctorCommand.examine(Host.read(environment, places), checks);
  }

  static DoctorCommand.Entry only(List<DoctorCommand.Entry> entries, String cause) {
    return causes(entries, cause).stream()
        .findFirst()
        .orElseThrow(() -> new AssertionError(cause + " isn't in " + entries));
  }

  static List<DoctorCommand.Entry> causes(List<DoctorCommand.Entry> entries, String cause) {
    return entries.stream().filter(entry -> cause.equals(entry.cause())).toList();
  }

  static Map<String, String> environment(String... pairs) {
    Map<String, String> environment = new HashMap<>();
    for (String pair : pairs) {
      int equals = pair.indexOf('=');
      environment.put(pair.substring(0, equals), pair.substring(equals + 1));
    }
    return environment;
  }

  void config(String text) throws Exception {
    config = Files.writeString(folder.resolve("bgp.conf"), text);
  }
}

package io.heddle.cli.doctor;

import io.heddle.addr.AddressFilter;
import io.heddle.addr.HostAddresses;
import io.heddle.addr.PlaneDiscovery;
import io.heddle.addr.PlaneRules;
import io.heddle.platform.HeddleException;
import io.heddle.platform.NanoClock;
import io.heddle.routes.RouteReader;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * State of this host, which checks read. The settings come from the job's environment. The rest is
 * read once from the kernel.
 *
 * @param environment environment variables of the job
 * @param addresses addresses of all interfaces
 * @param planes planes that the plugin would find
 * @param planesFault reason why the planes can't be determined; null if they can
 * @param devices devices of all providers
 * @param places locations of files
 */
record Host(
    Map<String, String> environment,
    HostAddresses addresses,
    PlaneDiscovery.Result planes,
    @Nullable String planesFault,
    HostDevices devices,
    Places places) {
  private static final int LARGEST_FILE = 1 << 16;

  /**
   * Locations of files.
   *
   * @param plugin the plugin beside this command
   * @param routes the routes file; null if HEDDLE_ROUTES=none
   * @param control the route daemon's socket
   * @param config the route daemon's configuration; null if there is none
   * @param stats the folder with statistics files; null for the usual folders
   */
  record Places(
      Path plugin,
      @Nullable Path routes,
      Path control,
      @Nullable Path config,
      @Nullable Path stats) {}

  static Host read(Map<String, String> environment, Places places) {
    HostAddresses addresses = HostAddresses.read();
    PlaneDiscovery.Result planes = new PlaneDiscovery.Result(List.of(), List.of(), List.of());
    String fault = null;
    try {
      planes =
          PlaneDiscovery.discover(
              addresses,
              PlaneRules.parse(environment.get("HEDDLE_PLANES")),
              AddressFilter.parse(
                  environment.get(AddressFilter.RANGE_VARIABLE),
                  environment.get(AddressFilter.FAMILY_VARIABLE)),
              daemonNames(followedRoutes(environment, places)));
    } catch (HeddleException malformed) {
      fault = String.valueOf(malformed.getMessage());
    }
    return new Host(environment, addresses, planes, fault, HostDevices.read(environment), places);
  }

  /* Returns the route daemon's names of planes, by this host's address on each. */
  private static Map<InetAddress, String> daemonNames(@Nullable Path routes) {
    if (routes == null) {
      return Map.of();
    }
    try (RouteReader reader = RouteReader.open(routes, NanoClock.SYSTEM)) {
      return reader == null ? Map.of() : RouteReader.keys(reader.planes());
    } catch (HeddleException unreadable) {
      /* Jobs ignore an unreadable file, too. RoutesCheck reports the error. */
      return Map.of();
    }
  }

  private static @Nullable Path followedRoutes(Map<String, String> environment, Places places) {
    return environment.getOrDefault("HEDDLE_WEIGHTS", "").isBlank() ? places.routes : null;
  }

  /** Returns the routes file that gives the job weights and names of planes; null for none. */
  @Nullable Path followedRoutes() {
    return followedRoutes(environment, places);
  }

  /** Returns a variable's value, stripped; empty if unset. */
  String setting(String name) {
    return environment.getOrDefault(name, "").strip();
  }

  /**
   * Returns a file's text without the last line end; null if unreadable. Uses one read, because
   * files under /proc/sys return their content to the first read only.
   */
  static @Nullable String text(Path file) {
    try (InputStream in = Files.newInputStream(file)) {
      byte[] bytes = new byte[LARGEST_FILE];
      int length = in.read(bytes);
      return new String(bytes, 0, Math.max(0, length), StandardCharsets.UTF_8).strip();
    } catch (IOException unreadable) {
      return null;
    }
  }
}

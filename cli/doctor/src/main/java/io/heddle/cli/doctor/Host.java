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
 * What checks look at. Settings come from an environment, which is that of the shell that the job
 * will be started from; the rest from the kernel, once.
 *
 * @param environment the job's
 * @param addresses of all interfaces
 * @param planes as the plugin would find them
 * @param planesFault why it can't look for planes; null where it can
 * @param devices of all providers
 * @param places where files are
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
   * Where files are.
   *
   * @param plugin the plugin beside this command
   * @param routes the routes file; null where HEDDLE_ROUTES says that there is none
   * @param control the route daemon's socket
   * @param config the route daemon's configuration; null where it has none here
   * @param stats the folder with statistics files; null for the usual ones
   */
  record Places(
      Path plugin,
      @Nullable Path routes,
      Path control,
      @Nullable Path config,
      @Nullable Path stats) {}

  static Host look(Map<String, String> environment, Places places) {
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
              told(followedRoutes(environment, places)));
    } catch (HeddleException malformed) {
      fault = String.valueOf(malformed.getMessage());
    }
    return new Host(environment, addresses, planes, fault, HostDevices.look(environment), places);
  }

  /* How the route daemon calls the planes of this host's addresses. */
  private static Map<InetAddress, String> told(@Nullable Path routes) {
    if (routes == null) {
      return Map.of();
    }
    try (RouteReader reader = RouteReader.open(routes, NanoClock.SYSTEM)) {
      return reader == null ? Map.of() : RouteReader.keys(reader.planes());
    } catch (HeddleException unreadable) {
      /* A job does without it, too; RoutesCheck tells of it. */
      return Map.of();
    }
  }

  private static @Nullable Path followedRoutes(Map<String, String> environment, Places places) {
    return environment.getOrDefault("HEDDLE_WEIGHTS", "").isBlank() ? places.routes : null;
  }

  /** The routes file that the job takes weights and the names of planes from; null for none. */
  @Nullable Path followedRoutes() {
    return followedRoutes(environment, places);
  }

  /** A variable that is set, without the blanks around it; empty where it isn't. */
  String setting(String name) {
    return environment.getOrDefault(name, "").strip();
  }

  /**
   * A file's text without the last line end; null where it can't be read. In one read: files under
   * /proc/sys give what they have to the first one only.
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

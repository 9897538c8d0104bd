package io.heddle.systemtests.style;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bgpstub.daemon.RouteDaemonKeys;
import io.heddle.bridge.config.BridgeKeys;
import io.heddle.controller.network.ControllerKeys;
import io.heddle.daemon.ConfigKeys;
import io.heddle.gateway.config.GatewayKeys;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Test that the tables of configuration keys in docs/ are those that the daemons' key declarations
 * make. A table follows a comment with its name.
 */
@Execution(ExecutionMode.CONCURRENT)
class KeyTablesTest {
  private static final Map<String, Map<String, ConfigKeys>> PAGES =
      Map.of(
          "bridge.md",
          Map.ofEntries(
              Map.entry("keys", BridgeKeys.TOP),
              Map.entry("keys of [fabric]", BridgeKeys.FABRIC),
              Map.entry("keys of [group]", BridgeKeys.GROUP),
              Map.entry("keys of [unicast]", BridgeKeys.UNICAST),
              Map.entry("keys of [proxy]", BridgeKeys.PROXY),
              Map.entry("keys of [redundancy]", BridgeKeys.REDUNDANCY)),
          "bgp.md",
          Map.of("keys", RouteDaemonKeys.TOP, "keys of [peer]", RouteDaemonKeys.PEER),
          "dci.md",
          Map.ofEntries(
              Map.entry("keys of the gateway", GatewayKeys.TOP),
              Map.entry("keys of [policy]", GatewayKeys.POLICY),
              Map.entry("keys of [list]", GatewayKeys.LIST),
              Map.entry("keys of [controller]", GatewayKeys.CONTROLLER),
              Map.entry("keys of the controller", ControllerKeys.TOP),
              Map.entry("keys of [gateway]", ControllerKeys.GATEWAY),
              Map.entry("keys of [router]", ControllerKeys.ROUTER),
              Map.entry("keys of [peer]", ControllerKeys.PEER),
              Map.entry("keys of [link]", ControllerKeys.LINK),
              Map.entry("keys of [path]", ControllerKeys.PATH)));

  private static final Pattern TABLE = Pattern.compile("(?m)^<!-- (keys[^>]*) -->\n((?:\\|.*\n)*)");

  @ParameterizedTest
  @ValueSource(strings = {"bgp.md", "bridge.md", "dci.md"})
  void tablesAreThoseOfTheCode(String page) throws Exception {
    Map<String, ConfigKeys> missing = new LinkedHashMap<>(PAGES.get(page));
    String existing = Files.readString(Repository.ROOT.resolve("docs").resolve(page));
    String made =
        TABLE
            .matcher(existing)
            .replaceAll(found -> {
              ConfigKeys keys = missing.remove(found.group(1));
              assertTrue(keys != null, () -> page + " has an unknown table " + found.group(1));
              return Matcher.quoteReplacement("<!-- " + found.group(1) + " -->\n" + keys.table());
            });
    assertEquals(Map.of(), missing, "tables that aren't in " + page);
    Path renewed = Files.writeString(Repository.ROOT.resolve("system-tests/target/" + page), made);
    assertEquals(made, existing, () -> "to renew the page: cp " + renewed + " docs/");
  }
}

package io.heddle.tools.lab;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.tools.lab.FabricTopology.Node;
import io.heddle.tools.lab.FabricTopology.Role;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Test of router configurations: whole texts are compared with reviewed golden files, and single
 * rules are checked.
 */
class RouterConfigTest {
  private static final Path GOLDEN = Path.of("src", "test", "golden");
  private static final Path MADE = Path.of("target", "golden");
  private static final Path FOLDER = Path.of("/lab");

  @TempDir private Path folder;

  private static FabricTopology topology(String shape, int links, int bfdMs, boolean frr) {
    boolean joined = shape.equals("leaf-spine");
    int planes = 2 * links;
    return new FabricTopology(
        new FabricPlan(
            FabricShape.named(shape),
            joined ? 2 : 0,
            links,
            2,
            2,
            List.of(1_000_000_000L, 500_000_000L, 1_000_000L, 1_000_000L).subList(0, planes),
            List.of(100, 50, 1, 1).subList(0, planes),
            9_000,
            100,
            9,
            bfdMs,
            frr));
  }

  private static Node node(String name) {
    Role role =
        switch (name.charAt(0)) {
          case 'l' -> Role.LEAF;
          case 's' -> Role.SPINE;
          default -> Role.CORE;
        };
    return new Node(role, Integer.parseInt(name.substring(1)));
  }

  private static String bird(FabricTopology topology, String router, String... unreachable) {
    return new BirdConfig(topology, FOLDER).of(node(router), List.of(unreachable));
  }

  private static void assertGolden(String file, String text) throws Exception {
    Files.createDirectories(MADE);
    Files.writeString(MADE.resolve(file), text);
    Path golden = GOLDEN.resolve(file);
    assertEquals(
        Files.exists(golden) ? Files.readString(golden) : "",
        text,
        "where the new text is right: cp cli/lab/" + MADE.resolve(file) + " cli/lab/" + GOLDEN);
  }

  @ParameterizedTest
  @CsvSource({
    "leaf-spine, 1, 0,   false, l1, bird-leaf.conf",
    "leaf-spine, 1, 0,   false, s2, bird-spine.conf",
    "leaf-spine, 2, 100, false, l2, bird-leaf-two-links-bfd.conf",
    "leaf-spine, 2, 100, true,  s1, bird-spine-two-links-bfd-frr.conf",
    "planes,     1, 0,   false, l2, bird-plane.conf",
    "planes,     1, 0,   true,  c2, bird-core.conf"
  })
  void birdConfigurationIsGolden(
      String shape, int links, int bfdMs, boolean frr, String router, String file)
      throws Exception {
    assertGolden(file, bird(topology(shape, links, bfdMs, frr), router));
  }

  @ParameterizedTest
  @CsvSource({
    "leaf-spine, 0,   frr-leaf.conf",
    "leaf-spine, 100, frr-leaf-bfd.conf",
    "planes,     0,   frr-plane.conf"
  })
  void frrConfigurationIsGolden(String shape, int bfdMs, String file) throws Exception {
    FrrConfig config = new FrrConfig(topology(shape, 1, bfdMs, true), FOLDER);
    Node leaf = node("l2");
    assertGolden(
        file, config.zebra(leaf) + config.bgpd(leaf) + (bfdMs > 0 ? config.bfdd(leaf) : ""));
  }

  /* BIRD itself parses the text. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "bird-leaf",
        "bird-spine",
        "bird-leaf-two-links-bfd",
        "bird-spine-two-links-bfd-frr",
        "bird-plane",
        "bird-core"
      })
  void birdAcceptsTheConfiguration(String file) throws Exception {
    Path bird = Path.of("/usr/sbin/bird");
    if (!Files.isExecutable(bird)) {
      Skip.because("no BIRD is installed");
    }
    Path copy = folder.resolve("bird.conf");
    String text = Files.readString(GOLDEN.resolve(file + ".conf"));
    Files.writeString(copy, text.replace(FOLDER + "/", folder + "/"));
    Process parse =
        new ProcessBuilder(bird.toString(), "-p", "-c", copy.toString())
            .redirectErrorStream(true)
            .start();
    String said = new String(parse.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, parse.waitFor(), said);
  }

  @Test
  void pathBandwidthHasRouterIdAndWholeGigabits() {
    assertEquals(
        "bgp_ext_community.add((generic, 0x01800a00, 0x01020064));",
        BirdConfig.pathBandwidth(node("l2"), 100));
    assertEquals(
        "bgp_ext_community.add((generic, 0x01800a00, 0x0101ffff));",
        BirdConfig.pathBandwidth(node("l1"), FabricPlan.MAX_BANDWIDTH_GBPS));
    assertEquals(
        "bgp_ext_community.add((generic, 0x01800a00, 0x02010000));",
        BirdConfig.pathBandwidth(node("s1"), 0));
  }

  @Test
  void leafSendsAigpForItsPrefixesToThePlanesSpineOnly() {
    String leaf = bird(topology("leaf-spine", 1, 0, false), "l1");
    assertTrue(section(leaf, "protocol bgp up_s1").contains("[ fd00:1:1:1::/64 ] then igp_metric"));
    assertTrue(section(leaf, "protocol bgp up_s2").contains("[ fd00:1:1:2::/64 ] then igp_metric"));
    assertFalse(section(leaf, "protocol bgp up_s2").contains("fd00:1:1:1::"));
  }

  private static String section(String text, String head) {
    int from = text.indexOf(head);
    assertTrue(from >= 0, head + " isn't in " + text);
    int to = text.indexOf("\nprotocol", from);
    return to < 0 ? text.substring(from) : text.substring(from, to);
  }

  @Test
  void bfdIsConfiguredOnlyIfPlanned() {
    for (String router : List.of("l1", "s1")) {
      assertFalse(bird(topology("leaf-spine", 1, 0, false), router).contains("bfd"), router);
      String with = bird(topology("leaf-spine", 1, 300, false), router);
      assertTrue(with.contains("protocol bfd"), with);
      assertTrue(with.contains("bfd { interval 300 ms; multiplier 3; };"), with);
    }
  }

  @Test
  void unreachableHostIsAnnouncedWithoutBandwidthByItsPlaneOnly() {
    FabricTopology planes = topology("planes", 1, 0, false);
    String address = planes.address(new Node(Role.HOST, 2), 1);
    String announced = bird(planes, "l1", address);
    assertTrue(
        announced.contains(
            "  route "
                + address
                + "/128 unreachable { bgp_ext_community.add((generic, 0x030b0000, 0x00000001));"
                + " bgp_ext_community.add((generic, 0x01800a00, 0x01010000)); };\n"),
        announced);
    assertFalse(bird(planes, "l1").contains("/128"));
  }

  @Test
  void spineColoursPrefixesAndAdvertisesOnlyToFrrLeaf() {
    String beside = bird(topology("leaf-spine", 1, 0, true), "s1");
    assertTrue(beside.contains("protocol radv { interface \"l2\""), beside);
    assertFalse(beside.contains("protocol radv { interface \"l1\""), beside);
    assertTrue(section(beside, "protocol bgp down_l2").contains("if net = fd00:2:1:1::/64"));
    assertFalse(section(beside, "protocol bgp down_l1").contains("if net ="));
  }

  @Test
  void bracesAreBalancedInBirdConfigurations() {
    for (String shape : List.of("leaf-spine", "planes")) {
      for (boolean frr : List.of(false, true)) {
        FabricTopology topology = topology(shape, 1, 50, frr);
        for (Node router : topology.routers()) {
          if (topology.isFrr(router)) {
            continue;
          }
          String text = bird(topology, router.name());
          assertEquals(
              text.chars().filter(c -> c == '{').count(),
              text.chars().filter(c -> c == '}').count(),
              text);
        }
      }
    }
  }
}

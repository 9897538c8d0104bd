package io.heddle.tools.lab;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.Checkout;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Test that docs/deploying.md has the same leaf configurations as {@code heddle lab}, which other
 * tests run.
 */
final class DeployingPageTest {
  private static final Pattern BLOCK =
      Pattern.compile("^```(\\w*)\\n(.*?)^```$", Pattern.MULTILINE | Pattern.DOTALL);

  private static FabricTopology fabric(boolean frr) {
    return new FabricTopology(
        new FabricPlan(
            FabricShape.LEAF_SPINE,
            4,
            1,
            2,
            2,
            Collections.nCopies(4, 1_000_000_000L),
            Collections.nCopies(4, 100),
            9000,
            100,
            9,
            0,
            frr));
  }

  /* Returns a statement without the numbers, addresses and names of a site. */
  private static String plain(String statement) {
    return statement
        .replaceAll("\"[^\"]*\"", "NAME")
        .replaceAll("\\bbgp (up|hosts)_?\\w*", "bgp NAME")
        .replaceAll("\\b(neighbor|interface) [hs]\\d+", "$1 NAME")
        .replaceAll("[0-9a-f]*:[0-9a-f:]+/\\d+", "PREFIX")
        .replaceAll("\\bfe80::\\d\\b", "ADDRESS")
        .replaceAll("PREFIX(, PREFIX)+", "PREFIX")
        .replaceAll("0x[0-9a-f]+", "NUMBER")
        .replaceAll("\\b\\d+\\b", "NUMBER")
        .replaceAll("(TO|FROM|OWN|REMOTE)-\\w+", "$1-NUMBER")
        .replaceAll("\\s+", " ")
        .strip();
  }

  private static Set<String> statements(String text, String separator) {
    Set<String> statements = new TreeSet<>();
    for (String each : text.split(separator)) {
      if (!each.isBlank()) {
        statements.add(plain(each));
      }
    }
    return statements;
  }

  private static void assertSame(Predicate<String> ours, String lab, String separator)
      throws IOException {
    Set<String> given = statements(lab, separator);
    List<String> other = new ArrayList<>();
    Matcher block = BLOCK.matcher(Files.readString(Checkout.path("docs/deploying.md")));
    int blocks = 0;
    while (block.find()) {
      if (block.group(1).isEmpty() && ours.test(block.group(2))) {
        blocks++;
        statements(block.group(2), separator).stream()
            .filter(each -> !given.contains(each))
            .forEach(other::add);
      }
    }
    assertTrue(blocks >= 3, blocks + " blocks: the page has changed");
    assertEquals(List.of(), other, () -> "not in the lab's configuration: " + given);
  }

  @Test
  void birdLeavesHaveTheConfigurationOfThePage() throws Exception {
    FabricTopology fabric = fabric(false);
    String lab =
        new BirdConfig(fabric, Path.of("/lab"))
            .of(fabric.nodes(FabricTopology.Role.LEAF).getFirst(), List.of());
    assertSame(text -> text.startsWith("protocol "), lab, "[{};]");
  }

  @Test
  void frrLeavesHaveTheConfigurationOfThePage() throws Exception {
    FabricTopology fabric = fabric(true);
    FrrConfig config = new FrrConfig(fabric, Path.of("/lab"));
    FabricTopology.Node leaf = fabric.nodes(FabricTopology.Role.LEAF).getLast();
    assertTrue(fabric.isFrr(leaf));
    assertSame(
        text -> text.matches("(?s)(interface|route-map|router) .*"),
        config.zebra(leaf) + config.bgpd(leaf),
        "\n");
  }
}

package io.heddle.fabric.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.HeddleException;
import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Test that linear hashes are recognised and others are refused. */
final class LinearFitTest {
  private static final int BASE = 49_152;

  private static RoceFlow flow(int port) {
    try {
      return new RoceFlow(
          InetAddress.getByName("fd00:1::11"), InetAddress.getByName("fd00:1::12"), port, 0);
    } catch (java.net.UnknownHostException impossible) {
      throw new AssertionError(impossible);
    }
  }

  /*
   * Returns the paths of a plan's ports. The paths' names are shuffled, so that they don't reveal
   * the number of the link.
   */
  private static Map<Integer, String> measured(SwitchHash hash, int members, long seed, int count) {
    Random random = new Random(seed);
    List<String> names = new java.util.ArrayList<>();
    for (int i = 0; i < members; i++) {
      names.add("router " + i * 7 % members);
    }
    java.util.Collections.shuffle(names, random);
    Map<Integer, String> paths = new TreeMap<>();
    for (int port : LinearFit.plan(BASE, count, random)) {
      paths.put(port, names.get(hash.member(flow(port), new EcmpGroup(members))));
    }
    return paths;
  }

  @Test
  void everyAlgorithmOfSiliconIsFitted() {
    for (HashAlgorithm algorithm : HashAlgorithm.values()) {
      for (int members : new int[] {2, 4, 8}) {
        for (int seed = 0; seed < 20; seed++) {
          String what = algorithm.word() + " over " + members + ", seed " + seed;
          SwitchHash hash = HashModel.ecmp(algorithm, seed * 0x1021);
          Map<Integer, String> paths = measured(hash, members, seed, members > 4 ? 160 : 64);
          if (new TreeSet<>(paths.values()).size() < 2) {
            /* Nothing can be fitted if all ports have one path. */
            continue;
          }
          LinearFit fit = LinearFit.of(paths);
          assertEquals(32, fit.heldOut(), what);
          assertTrue(fit.isLinear(), what + ": " + fit);
        }
      }
    }
  }

  @Test
  void fitPredictsEveryPort() {
    SwitchHash hash = HashModel.ecmp(HashAlgorithm.CRC32MSB, 77);
    LinearFit fit = LinearFit.of(measured(hash, 4, 5, LinearFit.PLANNED));
    Map<String, Integer> member = new TreeMap<>();
    for (int port = 1; port < 0x10000; port++) {
      String path = String.valueOf(fit.map().path(port));
      int expected = hash.member(flow(port), new EcmpGroup(4));
      assertEquals(expected, member.computeIfAbsent(path, name -> expected), "port " + port);
    }
    assertEquals(4, member.size());
  }

  @Test
  void hashesThatAreNotLinearAreRefused() {
    for (int seed = 1; seed <= 50; seed++) {
      for (int members : new int[] {2, 4, 8, 16}) {
        for (SwitchHash hash : List.of(new JenkinsHash(seed), new LinuxHash(seed))) {
          Map<Integer, String> paths = measured(hash, members, seed, LinearFit.PLANNED);
          if (Integer.bitCount(new TreeSet<>(paths.values()).size()) == 1) {
            LinearFit fit = LinearFit.of(paths);
            assertFalse(fit.isLinear(), hash.text() + " over " + members + ": " + fit);
          }
        }
      }
    }
  }

  /*
   * Bits 0, 1 and 2 of the port select among eight routers. No learned port flips two of these
   * bits. So the four routers that two or three flipped bits select are unknown.
   */
  @Test
  void pathsWithoutALearnedPortAreCounted() {
    Map<Integer, String> paths = new TreeMap<>();
    for (int bit = 0; bit < 16; bit++) {
      paths.put(BASE ^ 1 << bit, "router " + (1 << bit & 7));
    }
    paths.put(BASE, "router 0");
    Random random = new Random(9);
    while (paths.size() < 17 + 32) {
      int port = BASE ^ 0x3f00 | random.nextInt(0x100);
      paths.put(port, "router " + (port & 7));
    }
    LinearFit fit = LinearFit.of(paths);
    assertEquals(4, fit.map().unknownPaths(), fit.toString());
    assertFalse(fit.isLinear());
  }

  @Test
  void groupOfThreeIsRefused() {
    Map<Integer, String> paths = measured(HashModel.ecmp(HashAlgorithm.CRC16CC, 0), 3, 1, 64);
    assertEquals(
        "there are 3 paths; only groups of a power of two, up to 64, can be linear in the port",
        assertThrows(HeddleException.class, () -> LinearFit.of(paths)).getMessage());
  }

  @Test
  void tooFewPortsAreRefusedWithTheRemedy() {
    Map<Integer, String> paths = measured(HashModel.ecmp(HashAlgorithm.CRC16CC, 0), 4, 1, 64);
    Map<Integer, String> fewer = new TreeMap<>(paths);
    fewer.remove(BASE ^ 8);
    assertTrue(
        String.valueOf(assertThrows(HeddleException.class, () -> LinearFit.of(fewer)).getMessage())
            .endsWith("measure again, with --ports 64 or more"));
    Map<Integer, String> near = new TreeMap<>(paths);
    near.keySet().removeIf(port -> Integer.bitCount(port ^ BASE) > 2);
    assertTrue(
        String.valueOf(assertThrows(HeddleException.class, () -> LinearFit.of(near)).getMessage())
            .contains("32 are held out"));
    assertTrue(
        String.valueOf(
                assertThrows(HeddleException.class, () -> LinearFit.of(Map.of(1, "a", 2, "a")))
                    .getMessage())
            .contains("nothing to fit"));
  }

  @Test
  void plannedPortsAreDistinctAndUnprivileged() {
    for (int seed = 0; seed < 100; seed++) {
      List<Integer> plan = LinearFit.plan(BASE + seed, 200, new Random(seed));
      assertEquals(200, new TreeSet<>(plan).size());
      assertTrue(plan.stream().allMatch(port -> port >= 1024 && port < 0x10000), plan.toString());
    }
  }
}

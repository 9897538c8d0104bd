package io.heddle.dataplane.nft;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.addr.AddressPrefix;
import io.heddle.addr.AddressText;
import io.heddle.dataplane.Buckets;
import io.heddle.dataplane.DataPlaneSettings;
import io.heddle.dataplane.PacketCount;
import io.heddle.dataplane.SteerKey;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.NetworkNamespace;
import io.heddle.platform.testing.SystemTest;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests of the nftables table without traffic. The gateway's tests send traffic through it. */
@EndsWithin(120)
@SystemTest
final class NftDataPlaneTest {
  private static final DataPlaneSettings SETTINGS = new DataPlaneSettings(0x5eed, 16, 0, 0);
  private static final InetAddress DESTINATION = AddressText.parse("fc00:2::2");
  private static final InetAddress IPV4 = AddressText.parse("10.2.0.2");
  private static final int LOOPBACK = 1;

  private final List<String> log = new ArrayList<>();
  private NetworkNamespace host;

  @BeforeEach
  void createHost() {
    NetworkNamespace.assumeAvailable();
    NetworkNamespace.skipWhere(NftDataPlane.refusal().orElse(""));
    host = NetworkNamespace.create("nft");
  }

  @AfterEach
  void remove() {
    if (host != null) {
      host.close();
    }
  }

  private NftDataPlane open() {
    return host.call(() ->
        NftDataPlane.open(List.of(LOOPBACK), SETTINGS, (level, sentence) -> log.add(sentence)));
  }

  private String nft(String... words) {
    List<String> command = new ArrayList<>(List.of("nft"));
    command.addAll(List.of(words));
    return host.call(() -> {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      String said = new String(process.getInputStream().readAllBytes());
      assertEquals(0, process.waitFor(), said);
      return said;
    });
  }

  private String ruleset() {
    return nft("list", "ruleset");
  }

  @Test
  void tableHasNoHookBeforeAttachAndNoRestAfterRemove() {
    try (NftDataPlane plane = open()) {
      assertFalse(plane.isAdopted());
      plane.setPolicies(Map.of(AddressPrefix.parse("fc00:2::/64"), 0));
      plane.setBuckets(0, Buckets.ofWeights(Map.of(1, 1, 2, 1), Set.of(1, 2)));
      assertFalse(ruleset().contains("hook"), "rules before attach");
      plane.attach();
      assertTrue(ruleset().contains("ip6 daddr fc00:2::/64 goto policy6-0"), ruleset());
      assertEquals(PacketCount.NONE, plane.counters().roce());
      assertEquals(Map.of(), plane.listCounters());
      assertEquals(List.of(), plane.flows());
      plane.remove();
      assertEquals("", ruleset());
    }
  }

  @Test
  void steersOfBothFamiliesAreAdoptedByTheNextProcess() {
    Map<SteerKey, Integer> steers =
        Map.of(
            new SteerKey(DESTINATION, 17, null), 3,
            new SteerKey(DESTINATION, 18, AddressText.parse("fc00:1::1")), 64,
            new SteerKey(IPV4, 0xffffff, null), 1,
            new SteerKey(IPV4, 2, AddressText.parse("10.1.0.1")), 2);
    try (NftDataPlane first = open()) {
      assertEquals(Set.of(), first.steer(steers));
      assertEquals(steers, first.steers());
    }
    try (NftDataPlane second = open()) {
      assertTrue(second.isAdopted());
      assertEquals(steers, second.steers());
      SteerKey key = new SteerKey(IPV4, 2, AddressText.parse("10.1.0.1"));
      second.steer(Map.of(key, 9));
      assertEquals(9, second.steers().get(key), "a list that is changed");
      assertTrue(second.release(key));
      assertFalse(second.release(key));
    }
    try (NftDataPlane third = open()) {
      assertEquals(3, third.steers().size());
    }
  }

  @Test
  void steersWithoutRoomAreReturnedAndTheOthersAreInstalled() {
    Map<SteerKey, Integer> wanted = new HashMap<>();
    for (int queuePair = 2; queuePair < 2 + NftRules.MOST_STEERS + 3; queuePair++) {
      wanted.put(new SteerKey(DESTINATION, queuePair, null), 2);
    }
    try (NftDataPlane plane = open()) {
      Set<SteerKey> without = plane.steer(wanted);
      assertEquals(3, without.size());
      wanted.keySet().removeAll(without);
      assertEquals(wanted, plane.steers());
      SteerKey other = wanted.keySet().iterator().next();
      SteerKey first = without.iterator().next();
      assertEquals(Set.of(first), plane.steer(Map.of(first, 1, other, 3)));
      plane.release(other);
      assertEquals(Set.of(), plane.steer(Map.of(first, 1)));
      assertEquals(Set.of(), plane.steer(Map.of(new SteerKey(IPV4, 2, null), 1)), "another map");
    }
    try (NftDataPlane next = open()) {
      assertEquals(NftRules.MOST_STEERS + 1, next.steers().size());
    }
  }

  @Test
  void flushedTableIsRestoredWithItsSteers() {
    SteerKey key = new SteerKey(DESTINATION, 17, null);
    try (NftDataPlane plane = open()) {
      plane.setPolicies(Map.of(AddressPrefix.parse("fc00:2::/64"), 0));
      plane.setBuckets(0, Buckets.ofWeights(Map.of(1, 1), Set.of(1)));
      plane.attach();
      plane.steer(Map.of(key, 3));
      String before = ruleset();
      nft("flush", "ruleset");
      assertEquals(List.of(), plane.flows());
      assertEquals(before, ruleset());
      assertEquals(1, log.size(), log.toString());
      assertTrue(log.getFirst().contains("had been removed"), log.toString());
      nft("flush", "ruleset");
      assertTrue(plane.release(key), "an order may come before the next poll");
      nft("flush", "ruleset");
      plane.steer(Map.of(key, 4));
      assertTrue(ruleset().contains("0x00040000"), ruleset());
    }
  }

  @Test
  void tableOfAnotherBuildIsRecreated() {
    nft("add", "table", "inet", NftRules.TABLE);
    try (NftDataPlane plane = open()) {
      assertFalse(plane.isAdopted());
      assertTrue(ruleset().contains("counter " + NftRules.BUILD), ruleset());
    }
  }
}

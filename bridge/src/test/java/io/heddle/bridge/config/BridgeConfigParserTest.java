package io.heddle.bridge.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bridge.fabric.VerbsSpec;
import io.heddle.bridge.fabric.WireSpec;
import io.heddle.bridge.multicast.FlowDirection;
import io.heddle.bridge.multicast.GroupSettings;
import io.heddle.bridge.multicast.MgidFormat;
import io.heddle.bridge.peer.BeaconKey;
import io.heddle.bridge.peer.PeerSettings;
import io.heddle.bridge.unicast.ProxyAddresses;
import io.heddle.bridge.unicast.UnicastSettings;
import io.heddle.platform.HeddleException;
import io.heddle.verbs.Gid;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;

class BridgeConfigParserTest {
  private static final String AB = "[fabric a]\ninterface = x\n[fabric b]\ninterface = y\n";

  private static BridgeConfig parse(String text) {
    return BridgeConfigParser.parse("bridge.conf", text);
  }

  @Test
  void parsesConfigurationWithDefaults() {
    BridgeConfig config =
        parse(
            """
            # the first bridge of room 1
            name = room1
            status = /run/heddle/room1.status
            core = 3
            [fabric a]
            kind = wire
            interface = eth2
            prefix = 10.1.0.0/16,fd00:1::/32
            [fabric b]
            kind = wire
            interface = eth3
            address = 10.2.0.9,fd00:2::9
            hops = 4
            trains = yes
            [peer 10.1.0.2]       # the second one
            [group 239.1.1.1]
            [group 239.1.1.2:4711]
            mgid = cllm
            direction = a-to-b
            tos = 0x68
            pgm = yes
            [group ff05::1:3]
            mgid = IPv6
            [group [ff05::1:4]:4712]
            [unicast]
            mode = same
            tos = 0x20
            """);
    assertEquals("room1", config.name());
    assertEquals(Path.of("/run/heddle/room1.status"), config.status());
    assertEquals(3, config.core());
    assertEquals("[10.1.0.0/16, fd00:1::/32]", config.prefixes().getFirst().toString());
    WireSpec b = assertInstanceOf(WireSpec.class, config.fabrics().getLast());
    assertEquals("[10.2.0.9, fd00:2::9]", b.addresses().toString());
    assertEquals(4, b.hops());
    assertTrue(b.trains());
    assertEquals("[10.1.0.2]", config.bridges().toString());
    assertEquals(
        List.of("239.1.1.1", "239.1.1.2:4711", "ff05::1:3", "[ff05::1:4]:4712"),
        config.groups().stream().map(GroupSettings::name).toList());
    GroupSettings first = config.groups().getFirst();
    assertEquals(FlowDirection.BOTH, first.direction());
    assertEquals(MgidFormat.RDMA, first.mgid());
    assertEquals("mgid=CLLM direction=a-to-b tos=0x68 pgm=yes", config.groups().get(1).describe());
    assertEquals(
        new UnicastSettings(0x20, UnicastSettings.Addresses.TRANSPARENT, ProxyAddresses.NONE, null),
        config.unicast());
  }

  @Test
  void parsesProxyAddresses() {
    BridgeConfig config =
        parse(
            """
            [fabric a]
            kind = wire
            interface = x
            prefix = 10.1.0.0/16
            [fabric b]
            kind = wire
            interface = y
            [proxy a 10.1.0.200]
            for = 10.2.0.9
            [proxy b fd02::1]
            for = 10.1.0.1
            [unicast]
            addresses = proxied
            """);
    assertEquals(
        "[proxy a 10.1.0.200 for=10.2.0.9, proxy b fd02::1 for=10.1.0.1]",
        config.proxyAddresses().all().toString());
    assertEquals("[10.1.0.200]", proxyAddresses(config, 0).toString());
    assertEquals("[fd02::1]", proxyAddresses(config, 1).toString());
    assertNotNull(config.unicast());
    assertEquals("mode=same addresses=proxied tos=0x00, proxies: 2", config.unicast().describe());
    BridgeConfig next =
        parse(AB + "[unicast]\naddresses = proxied\n[proxy a 10.1.0.200]\nfor = 10.2.0.8");
    assertTrue(
        changes(config, next).contains("[proxy a 10.1.0.200] becomes 10.2.0.8, was 10.2.0.9"));
    assertRefused(config, AB + "[unicast]", "addresses of [unicast] is proxied and can't become");
  }

  private static List<Gid> proxyAddresses(BridgeConfig config, int side) {
    return assertInstanceOf(WireSpec.class, config.fabrics().get(side)).proxyAddresses();
  }

  @Test
  void parsesLibibverbsPortAndInterfaceInNamespace() {
    String text =
        """
        [fabric a]
        kind = verbs
        device = mlx5_0:2
        address = 10.1.0.9,fd00:1::9
        prefix = 10.1.0.0/16
        hops = 3
        rate = 1M
        [fabric b]
        kind = wire
        interface = eth3
        namespace = gw
        [group 239.1.1.1]
        """;
    BridgeConfig config = parse(text);
    VerbsSpec a = assertInstanceOf(VerbsSpec.class, config.fabrics().getFirst());
    assertEquals("mlx5_0:2", a.device());
    assertEquals("[10.1.0.9, fd00:1::9]", a.addresses().toString());
    assertEquals(3, a.hops());
    assertEquals(1_000_000, config.links().getFirst().packetsPerSecond());
    assertEquals("gw", assertInstanceOf(WireSpec.class, config.fabrics().getLast()).namespace());
    assertEquals("nothing changes; unchanged sections: 3", changes(config, parse(text)));
    assertRefused(
        config,
        text.replace("mlx5_0:2", "mlx5_1"),
        "device of [fabric a] is mlx5_0:2 and can't become");
    assertRefused(
        config,
        text.replace("hops = 3", "hops = 4"),
        "hops of [fabric a] is 3 and can't become 4 while the daemon runs: restart it");
    assertRefused(
        config,
        text.replace("= gw", "= other"),
        "namespace of [fabric b] is gw and can't become other");
    assertRefused(
        config,
        text.replace("verbs\ndevice = mlx5_0:2", "wire\ninterface = eth2"),
        "kind of [fabric a] is verbs and can't become wire");
    assertEquals(
        "prefix of [fabric a] becomes 10.3.0.0/16, was 10.1.0.0/16; rate of [fabric a] becomes 2M,"
            + " was 1M; unchanged sections: 2",
        changes(config, parse(text.replace("= 10.1.0.0", "= 10.3.0.0").replace("= 1M", "= 2M"))));
  }

  private static String changes(BridgeConfig now, BridgeConfig next) {
    return now.text().changeTo(next.text());
  }

  private static void assertRefused(BridgeConfig now, String next, String reason) {
    HeddleException refused = assertThrows(HeddleException.class, () -> changes(now, parse(next)));
    assertTrue(String.valueOf(refused.getMessage()).contains(reason), refused.toString());
  }

  @Test
  void hasDefaultName() {
    BridgeConfig config = parse("[fabric a]\ninterface = x\n[fabric b]\ninterface = y");
    assertEquals("bridge", config.name());
    assertEquals(BridgeConfig.STATUS, config.status());
    assertEquals(BridgeConfig.NO_CORE, config.core());
    assertTrue(config.groups().isEmpty());
    assertNull(config.unicast());
  }

  @Test
  void redundancyHasNumberAndKey(@TempDir Path folder) throws IOException {
    Path key = folder.resolve("key");
    Files.write(key, new byte[BeaconKey.LEAST_BYTES]);
    Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
    String line =
        AB
            + "[redundancy]\n"
            + "bridge-id = 7\n"
            + "priority = 200\n"
            + "weight = 3\n"
            + "beacon = 50ms\n"
            + "reserve = yes";
    String keyed = line + "\nport = 5000\ngroup = ff15::7\nkey-file = " + key;
    PeerSettings settings = parse(keyed + "\n[group 239.1.1.1]\nowner = 7").redundancy();
    assertNotNull(settings);
    assertEquals(
        "bridge-id=7 beacon=50ms port=5000 group=ff15::7 key-file="
            + key
            + " priority=200 weight=3",
        settings.toString());
    assertNotNull(settings.key());
    assertTrue(settings.reserve());
    PeerSettings plain = parse(AB + "[redundancy]\nbridge-id = 1").redundancy();
    assertNotNull(plain);
    assertEquals("bridge-id=1 beacon=100ms port=14791 priority=100 weight=1", plain.toString());
    String device = "[fabric a]\nkind = verbs\ndevice = rxe0\n[fabric b]\ninterface = y\n";
    assertEquals(plain, parse(device + "[redundancy]\nbridge-id = 1").redundancy());
    Files.write(key, new byte[BeaconKey.LEAST_BYTES - 1]);
    assertEquals(
        "bridge.conf line 13: key-file = "
            + key
            + " has less than 16 bytes; head -c 32 /dev/urandom makes one",
        assertThrows(HeddleException.class, () -> parse(keyed)).getMessage());
  }

  @Test
  void reloadMayChangePriorityAndWeight() {
    BridgeConfig now = parse(AB + "[redundancy]\nbridge-id = 1");
    BridgeConfig next =
        parse(AB + "[redundancy]\nbridge-id = 1\npriority = 7\nweight = 2\nreserve = yes");
    assertEquals(
        "priority of [redundancy] becomes 7, was 100; weight of [redundancy] becomes 2, was 1;"
            + " reserve of [redundancy] becomes yes, was no; unchanged sections: 2",
        changes(now, next));
    assertRefused(
        now,
        AB + "[redundancy]\nbridge-id = 2",
        "bridge-id of [redundancy] is 1 and can't become 2");
    assertRefused(
        now,
        AB + "[redundancy]\nbridge-id = 1\nport = 5000",
        "port of [redundancy] is 14791 and can't become 5000");
    assertRefused(now, AB, "[redundancy] can't end");
  }

  @Test
  void digestCoversOnlyGroups() {
    long one = ConfigDigest.of(parse(AB + "[group 239.1.1.1]\n[group 239.1.1.2]\ntos = 4"));
    assertEquals(
        one,
        ConfigDigest.of(
            parse("name = x\n" + AB + "[group 239.1.1.2]\ntos = 4\n[group 239.1.1.1]")));
    assertNotEquals(
        one, ConfigDigest.of(parse(AB + "[group 239.1.1.1]\n[group 239.1.1.2]\ntos = 8")));
  }

  /* In that file, semicolons separate lines, and "AB;" stands for two valid fabrics. */
  @ParameterizedTest
  @CsvFileSource(resources = "bad-configurations.txt", delimiter = '|', quoteCharacter = '\u0000')
  void errorsContainLineWordAndNearestName(String text, String message) {
    String whole = text.replace("AB;", AB).replace(';', '\n');
    HeddleException refused = assertThrows(HeddleException.class, () -> parse(whole));
    assertEquals(message, refused.getMessage());
  }

  @Test
  void parsesMappingBetweenWireAndLibibverbs() {
    BridgeConfig config =
        parse(
            """
            [fabric a]
            kind = verbs
            device = rxe0
            [fabric b]
            kind = wire
            interface = y
            [unicast]
            mode = mapped
            addresses = proxied
            ports = 7174,9000-9001
            queue-pairs = 3
            [proxy a 10.1.0.200]
            for = 10.2.0.9
            """);
    assertNotNull(config.unicast());
    assertEquals(
        "mode=mapped addresses=proxied tos=0x00 queue-pairs=3 fix-immediate=yes"
            + " ports=7174,9000,9001, proxies: 1",
        config.unicast().describe());
    VerbsSpec verbs = (VerbsSpec) config.fabrics().getFirst();
    assertEquals(3, verbs.queuePairs());
    assertEquals("[10.1.0.200]", verbs.proxyAddresses().toString());
  }

  @Test
  void allowsHostsOwnAddressWithTwoNamespaces() {
    BridgeConfig config =
        parse(
            """
            [fabric a]
            kind = verbs
            device = rxe0
            [fabric b]
            kind = wire
            interface = y
            namespace = gw
            [unicast]
            mode = mapped
            addresses = proxied
            [proxy a 10.2.0.9]
            for = 10.2.0.9
            [proxy b 10.1.0.9]
            for = 10.1.0.9
            """);
    assertEquals(
        "[proxy a 10.2.0.9 for=10.2.0.9, proxy b 10.1.0.9 for=10.1.0.9]",
        config.proxyAddresses().all().toString());
  }

  @Test
  void parsesMappingBetweenTwoLibibverbsPorts() {
    BridgeConfig config =
        parse(
            """
            [fabric a]
            kind = verbs
            device = rxe0
            [fabric b]
            kind = verbs
            device = rxe1
            [unicast]
            mode = mapped
            addresses = proxied
            queue-pairs = 3
            [proxy a 10.1.0.200]
            for = 10.2.0.9
            [proxy b 10.2.0.200]
            for = 10.1.0.9
            """);
    VerbsSpec b = (VerbsSpec) config.fabrics().getLast();
    assertEquals(3, b.queuePairs());
    assertEquals("[10.2.0.200]", b.proxyAddresses().toString());
  }

  @Test
  void missingFileIsNamed() {
    HeddleException refused =
        assertThrows(
            HeddleException.class, () -> BridgeConfigParser.read(Path.of("/nowhere/b.conf")));
    assertEquals(
        "the configuration /nowhere/b.conf can't be read: it doesn't exist; write it, or name"
            + " another with --config",
        refused.getMessage());
  }

  @Test
  void parsesThousandsOfGroups() {
    StringBuilder text = new StringBuilder(AB);
    for (int i = 0; i < 10_000; i++) {
      text.append("[group 239.2." + (i >> 8) + "." + (i & 255) + "]\n");
    }
    assertEquals(10_000, parse(text.toString()).groups().size());
  }
}

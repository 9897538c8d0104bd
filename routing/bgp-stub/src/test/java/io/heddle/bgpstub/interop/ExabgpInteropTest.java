package io.heddle.bgpstub.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.heddle.bgp.session.PeerOptions;
import io.heddle.bgp.session.SessionState;
import io.heddle.bgp.wire.ExtendedCommunity;
import io.heddle.bgp.wire.PathAttribute;
import io.heddle.bgp.wire.PathAttributes;
import io.heddle.bgp.wire.Prefix;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;

/** ExaBGP connects to the speaker, which only listens. */
class ExabgpInteropTest extends DaemonContract {
  private Process daemon;
  private String hostile = "";
  private String local = "fd00:1::1";
  private String neighbour = "fd00:1::2";

  @Override
  List<Path> programs() {
    return List.of(Path.of("/usr/sbin/exabgp"));
  }

  @Override
  PeerOptions.Builder options() {
    return super.options().passive(true);
  }

  @Override
  Process launch(String key, boolean security) throws Exception {
    Path told = net.folder().resolve("told");
    Path script = net.folder().resolve("listen.sh");
    /* Its pipe doesn't block, so that cat ends whenever nothing is there; it ends with ExaBGP. */
    Files.writeString(
        script,
        "#!/bin/sh\nwhile [ -d /proc/$PPID ]; do cat >>"
            + told
            + " 2>/dev/null; sleep 0.05; done\n");
    Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
    Files.writeString(told, "");
    /* It gives up root for nobody. */
    Files.setPosixFilePermissions(net.folder(), PosixFilePermissions.fromString("rwxr-xr-x"));
    Files.setPosixFilePermissions(told, PosixFilePermissions.fromString("rw-rw-rw-"));
    Path configuration = net.folder().resolve("exabgp.conf");
    Files.writeString(
        configuration,
        """
        process listen { run %s; encoder json; }
        neighbor %s {
          router-id 10.0.3.1; local-address %s; local-as 65002; peer-as 65001; hold-time 9;
          %s
          %s
          family { ipv6 unicast; }
          capability { graceful-restart 20; }
          api { processes [ listen ]; receive { parsed; update; } }
          static {
            route fd00:aa::/32 next-hop fd00:1::1 %s extended-community [ %s ] attribute [ %s ];
            route fd00:ab::/32 next-hop fd00:1::1 attribute [ 0xc8 0xc0 0x61626364 ];
            %s
          }
        }
        """
            .formatted(
                script,
                neighbour,
                local,
                key.isEmpty() ? "" : "md5-password '" + key + "';",
                security ? "outgoing-ttl 255; incoming-ttl 255;" : "",
                "community [ 65002:3 ] large-community [ 65002:1:2 ]",
                "0x0180c0a801010190 0x030b000000000007 0x4004fdec4cee6b28",
                "0x1a 0x80 0x01000b0000000000000004",
                hostile));
    daemon =
        net.start(
            "env",
            "exabgp.daemon.user=root",
            "exabgp.log.level=INFO",
            "exabgp.api.cli=false",
            "exabgp.tcp.delay=0",
            "exabgp.tcp.bind=" + (local.startsWith("fe80") ? "::" : ""),
            "/usr/sbin/exabgp",
            configuration.toString());
    return daemon;
  }

  /* What it was told, the last word on our route first. */
  @Override
  String table() throws Exception {
    String told = Files.readString(net.folder().resolve("told")).toLowerCase(Locale.ROOT);
    int announced = told.lastIndexOf("\"announce\"");
    return announced > told.lastIndexOf("\"withdraw\"") ? told.substring(announced) : "";
  }

  @Override
  String ours() throws Exception {
    return Files.readString(net.folder().resolve("told"));
  }

  /* AIGP isn't among them: it reads that only with a capability of its own. */
  @Override
  List<String> ourAttributes() {
    return List.of(
        Long.toString(0x0180_0a00_0005_0064L),
        Long.toString(0x0081_fde9_0a00_0005L),
        Long.toString(0x0004_fde9_0000_0000L | Float.floatToIntBits(125e6f)),
        Long.toString(0x030b_0000_0000_0008L),
        "\"community\": [ [ 65001, 9 ] ]",
        "\"large-community\": [ [ 65001, 3 , 4 ] ]",
        "\"attribute-0xC8-0xE0\": \"0x01020304\"");
  }

  /* Its child is the script that hears what it is told. */
  @Override
  ProcessHandle itself(Process started) {
    return started.toHandle();
  }

  /* Where it keeps its routes over a restart it says nothing. */
  @Override
  String wordOfReset() {
    return "the peer closed the connection";
  }

  /* SIGALRM has it make all sessions anew. */
  @Override
  void reset() throws Exception {
    LinkedNamespaces.run("kill", "-ALRM", String.valueOf(daemon.pid()));
  }

  @Override
  void assertAttributes(PathAttributes attributes) {
    assertEquals(400, attributes.pathBandwidth().gigabitsPerSecond());
    assertEquals(new ExtendedCommunity.Color(0, 7), attributes.color());
    assertEquals(new PathAttribute.Aigp(4), attributes.aigp());
    assertEquals(
        new ExtendedCommunity.LinkBandwidth(false, 65004, 125_000_000f),
        attributes.linkBandwidth());
    assertEquals(
        "[65002:1:2]", attributes.find(PathAttribute.LargeCommunities.class).values().toString());
    assertEquals(List.of(0xfdea_0003), attributes.find(PathAttribute.Communities.class).values());
  }

  /* RFC 7606: AIGP of a wrong length is left out, communities of a wrong length withdraw their route. */
  @Test
  void malformedAttributesCostWhatTheyMustAndNoSession() throws Exception {
    hostile =
        """
        route fd00:ac::/32 next-hop fd00:1::1 attribute [ 0x1a 0x80 0x01000c0000000000000005 ];
        route fd00:ad::/32 next-hop fd00:1::1 attribute [ 0x10 0xc0 0x0180c0a8010101 ];
        """;
    launch("", false);
    connect(options());
    await("the route of the bad AIGP", () -> attributesOf(Prefix.of("fd00:ac::/32")) != null);
    assertNull(attributesOf(Prefix.of("fd00:ac::/32")).aigp());
    await("the aggregate", () -> attributesOf(AGGREGATE) != null);
    await(
        "the withdrawal",
        () ->
            heard.updates.stream()
                .anyMatch(each -> each.withdrawn().prefixes().contains(Prefix.of("fd00:ad::/32"))));
    assertNull(attributesOf(Prefix.of("fd00:ad::/32")));
    assertEquals(2, speaker.ask(session::status).counters().attributeFaults());
    assertEquals(SessionState.ESTABLISHED, speaker.ask(session::state));
  }

  /* A table of all is in docs/bgp-values.md; these are what a real speaker can be made to say. */
  @Test
  void forbiddenValuesCostTheirRoutesOnly() throws Exception {
    hostile =
        """
        route fd00:ae::/32 next-hop fd00:1::1 as-path [ 65002 0 ];
        route fd00:af::/32 next-hop fd00:1::1 as-path [ 65002 ( 65003 65004 ) ];
        route fd00:b0::/32 next-hop fd00:1::2;
        route fd00:b1::/32 next-hop ff02::1;
        route ff0e:1::/32 next-hop fd00:1::1;
        route fe80:0:0:1::/64 next-hop fd00:1::1;
        """;
    launch("", false);
    connect(options());
    for (String route : List.of("fd00:ae::/32", "fd00:af::/32", "fd00:b0::/32", "fd00:b1::/32")) {
      await(
          "the withdrawal of " + route,
          () ->
              heard.updates.stream()
                  .anyMatch(each -> each.withdrawn().prefixes().contains(Prefix.of(route))));
      assertNull(attributesOf(Prefix.of(route)), route);
    }
    await("the aggregate", () -> attributesOf(AGGREGATE) != null);
    await("both prefixes", () -> speaker.ask(session::status).counters().ignored() == 2);
    assertEquals(SessionState.ESTABLISHED, speaker.ask(session::state));
    assertEquals(6, speaker.ask(session::status).counters().attributeFaults());
  }

  @Test
  void attributeThatNobodyKnowsIsKept() throws Exception {
    launch("", false);
    connect(options());
    await("the other route", () -> attributesOf(Prefix.of("fd00:ab::/32")) != null);
    PathAttribute.Unknown unknown =
        attributesOf(Prefix.of("fd00:ab::/32")).find(PathAttribute.Unknown.class);
    assertEquals(200, unknown.code());
    assertEquals("abcd", new String(unknown.value(), StandardCharsets.UTF_8));
  }

  @Test
  void routesAreKeptWhileItRestarts() throws Exception {
    assertRoutesAreKeptOverItsDeath();
  }

  /* It names no interface when it connects, which the kernel refuses: it listens, we connect. */
  @Test
  void peerOnALinkLocalAddressIsEnough() throws Exception {
    local = net.linkLocal(net.leaf(), "h0");
    neighbour = net.linkLocal(net.host(), "p1");
    launch("", false);
    connect(linkLocal().passive(false));
    await("the aggregate", () -> attributesOf(AGGREGATE) != null);
  }
}

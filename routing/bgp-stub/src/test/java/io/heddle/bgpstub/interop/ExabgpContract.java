package io.heddle.bgpstub.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.heddle.bgp.session.PeerOptions;
import io.heddle.bgp.wire.ExtendedCommunity;
import io.heddle.bgp.wire.PathAttribute;
import io.heddle.bgp.wire.PathAttributes;
import io.heddle.bgp.wire.Prefix;
import io.heddle.platform.Shell;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;

/**
 * Contract tests with ExaBGP, for either address family. ExaBGP connects to the speaker, which only
 * listens.
 */
abstract class ExabgpContract extends DaemonContract {
  /* Prefixes of a route with an unknown attribute, one for each family. */
  private static final List<Prefix> OTHER =
      List.of(Prefix.of("fd00:ab::/32"), Prefix.of("10.21.0.0/16"));

  private Process daemon;

  /** Additional routes for ExaBGP's configuration, with attributes that the speaker must reject. */
  String invalidRoutes = "";

  String local = fabric().leaf();
  String neighbour = fabric().host();

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
    /*
     * Calls cat in a loop, since ExaBGP's pipe is non-blocking, so that cat ends whenever the pipe
     * is empty. The loop ends with ExaBGP.
     */
    Files.writeString(
        script,
        "#!/bin/sh\nwhile [ -d /proc/$PPID ]; do cat >>"
            + told
            + " 2>/dev/null; sleep 0.05; done\n");
    Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
    Files.writeString(told, "");
    /*
     * Lets every user read the folder and write the file, in case ExaBGP drops its root privileges.
     */
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
          family { %s unicast; }
          capability { graceful-restart 20; }
          api { processes [ listen ]; receive { parsed; update; } }
          static {
            route %s next-hop %s %s extended-community [ %s ] attribute [ %s ];
            route %s next-hop %s attribute [ 0xc8 0xc0 0x61626364 ];
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
                fabric().choose("ipv6", "ipv4"),
                aggregate(),
                fabric().leaf(),
                "community [ 65002:3 ] large-community [ 65002:1:2 ]",
                "0x0180c0a801010190 0x030b000000000007 0x4004fdec4cee6b28",
                "0x1a 0x80 0x01000b0000000000000004",
                other(),
                fabric().leaf(),
                invalidRoutes));
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

  /*
   * Returns the messages that ExaBGP has received since the newest announcement of the speaker's
   * route; empty after a withdrawal.
   */
  @Override
  String table() throws Exception {
    String told = Files.readString(net.folder().resolve("told")).toLowerCase(Locale.ROOT);
    int announced = told.lastIndexOf("\"announce\"");
    return announced > told.lastIndexOf("\"withdraw\"") ? told.substring(announced) : "";
  }

  @Override
  String speakerRouteEntry() throws Exception {
    return Files.readString(net.folder().resolve("told"));
  }

  /* ExaBGP reads AIGP only with its own capability, so AIGP is missing here. */
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

  /* ExaBGP's child process is the script that receives its messages. */
  @Override
  ProcessHandle daemonProcess(Process started) {
    return started.toHandle();
  }

  /* ExaBGP doesn't request graceful restart. */
  @Override
  String resetMessage() {
    return "the peer closed the connection";
  }

  /* Sends SIGALRM, which makes ExaBGP reset all sessions. */
  @Override
  void reset() throws Exception {
    Shell.run(List.of("kill", "-ALRM", String.valueOf(daemon.pid())));
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

  @Test
  void routesAreKeptWhileItRestarts() throws Exception {
    assertRoutesAreKeptOverItsDeath();
  }

  @Test
  void unknownAttributeIsKept() throws Exception {
    launch("", false);
    connect(options());
    await("the other route", () -> attributesOf(other()) != null);
    PathAttribute.Unknown unknown = attributesOf(other()).find(PathAttribute.Unknown.class);
    assertEquals(200, unknown.code());
    assertEquals("abcd", new String(unknown.value(), StandardCharsets.UTF_8));
  }

  private Prefix other() {
    return OTHER.get(fabric().isIpv4() ? 1 : 0);
  }
}

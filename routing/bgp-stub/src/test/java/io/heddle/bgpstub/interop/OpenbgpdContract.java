package io.heddle.bgpstub.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bgp.session.Negotiated;
import io.heddle.bgp.wire.Capability;
import io.heddle.bgp.wire.ExtendedCommunity;
import io.heddle.bgp.wire.PathAttribute;
import io.heddle.bgp.wire.PathAttributes;
import io.heddle.platform.Shell;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Contract tests with OpenBGPD in the leaf, with sessions and routes of either address family. */
abstract class OpenbgpdContract extends DaemonContract {
  String local = fabric().leaf();
  String neighbour = fabric().host();

  @Override
  List<Path> programs() {
    return List.of(Path.of("/usr/sbin/bgpd"), Path.of("/usr/sbin/bgpctl"));
  }

  @Override
  Process launch(String key, boolean security) throws Exception {
    Path configuration = net.folder().resolve("openbgpd.conf");
    Files.writeString(
        configuration,
        """
        AS 65002
        router-id 10.0.3.1
        fib-update no
        socket "%s"
        listen on %s
        network %s set { ext-community rt 65002:1 large-community 65002:1:2 community 65002:3 }
        neighbor %s {
          remote-as 65001
          passive
          holdtime 9
          announce IPv4 %s
          announce IPv6 %s
          %s
          %s
        }
        allow from any
        allow to any
        """
            .formatted(
                socket(),
                local,
                aggregate(),
                neighbour,
                fabric().choose("none", "unicast"),
                fabric().choose("unicast", "none"),
                key.isEmpty() ? "" : "tcp md5sig password \"" + key + "\"",
                security ? "ttl-security yes" : ""));
    Files.setPosixFilePermissions(configuration, PosixFilePermissions.fromString("rw-------"));
    /*
     * OpenBGPD needs an empty folder in /run, which its package's service unit creates. The process
     * gets a private /run with that folder.
     */
    return net.start(
        "sh",
        "-c",
        "mount -t tmpfs none /run && mkdir /run/openbgpd && exec /usr/sbin/bgpd -d -v -f "
            + configuration);
  }

  private String socket() {
    return net.folder().resolve("bgpd.sock").toString();
  }

  @Override
  String table() throws Exception {
    return net.ask("bgpctl", "-s", socket(), "show", "rib").toLowerCase(Locale.ROOT);
  }

  @Override
  String speakerRouteEntry() throws Exception {
    return net.ask("bgpctl", "-s", socket(), "show", "rib", "detail", announced().toString());
  }

  /* OpenBGPD shows a link bandwidth as the bits of its float, and doesn't support AIGP. */
  @Override
  List<String> ourAttributes() {
    return List.of(
        "[129] 65001:167772165",
        "[128] 10.0.0.5:100",
        "[4] 65001:" + Float.floatToIntBits(125e6f),
        "[11] 0x8",
        "Communities: 65001:9",
        "Large Communities: 65001:3:4",
        "Attribute #26 flags [O]:  len 11: 01 00 0b 00 00 00 00 00 00 00 06",
        "Attribute #200 flags [OT]:  len 4: 01 02 03 04");
  }

  @Override
  void reset() throws Exception {
    net.ask("bgpctl", "-s", socket(), "neighbor", fabric().host(), "clear");
  }

  @Override
  void assertAttributes(PathAttributes attributes) {
    assertEquals(
        List.of(
            new ExtendedCommunity.RouteTarget(
                ExtendedCommunity.RouteTarget.Administrator.TWO_OCTET_AS, 65002, 1)),
        attributes.extendedCommunities());
    assertEquals(
        "[65002:1:2]", attributes.find(PathAttribute.LargeCommunities.class).values().toString());
    assertEquals(List.of(0xfdea_0003), attributes.find(PathAttribute.Communities.class).values());
  }

  /*
   * OpenBGPD offers graceful restart for no family: it announces End-of-RIB, and asks for no routes
   * to be kept.
   */
  @Test
  void routesEndWithTheSessionDespiteItsCapability() throws Exception {
    Process first = launch("", false);
    connect(options());
    await("end of rib", () -> heard.has("end of rib"));
    Negotiated negotiated =
        Objects.requireNonNull(speaker.callOnLoop(session::status).negotiated());
    assertEquals(
        List.of(),
        negotiated.peer().find(Capability.GracefulRestart.class).families(),
        "asked for");
    assertNull(negotiated.gracefulRestart());
    killWithoutNotification(first);
    await("the end", () -> heard.has("down"));
    assertTrue(heard.events.contains("down CONNECTION_LOST"), heard.events + " " + heard.log);
    int before = heard.updates.size();
    launch("", false);
    await("established again and its routes", () -> heard.updates.size() > before);
  }

  /*
   * Stops all of OpenBGPD's processes before it kills them: if only one were killed, the others
   * would close the session.
   */
  private static void killWithoutNotification(Process daemon) throws Exception {
    List<ProcessHandle> all =
        Stream.concat(daemon.descendants(), Stream.of(daemon.toHandle())).toList();
    for (ProcessHandle each : all) {
      Shell.run(List.of("kill", "-STOP", String.valueOf(each.pid())));
    }
    all.forEach(ProcessHandle::destroyForcibly);
  }
}

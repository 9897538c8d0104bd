package io.heddle.bgp.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.heddle.bgp.session.PeerOptions;
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
    /* Its pipe doesn't block, so that cat ends whenever nothing is there. */
    Files.writeString(
        script, "#!/bin/sh\nwhile :; do cat >>" + told + " 2>/dev/null; sleep 0.05; done\n");
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
        neighbor fd00:1::2 {
          router-id 10.0.3.1; local-address fd00:1::1; local-as 65002; peer-as 65001; hold-time 9;
          %s
          %s
          family { ipv6 unicast; }
          api { processes [ listen ]; receive { parsed; update; } }
          static {
            route fd00:aa::/32 next-hop fd00:1::1 extended-community [ %s ] attribute [ %s ];
            route fd00:ab::/32 next-hop fd00:1::1 attribute [ 0xc8 0xc0 0x61626364 ];
          }
        }
        """
            .formatted(
                script,
                key.isEmpty() ? "" : "md5-password '" + key + "';",
                security ? "outgoing-ttl 255; incoming-ttl 255;" : "",
                "0x0180c0a801010190 0x030b000000000007 0x4004fdec4cee6b28",
                "0x1a 0x80 0x01000b0000000000000004"));
    return net.start(
        "env",
        "exabgp.daemon.user=root",
        "exabgp.log.level=INFO",
        "exabgp.api.cli=false",
        "exabgp.tcp.delay=0",
        "/usr/sbin/exabgp",
        configuration.toString());
  }

  /* What it was told, the last word on our route first. */
  @Override
  String table() throws Exception {
    String told = Files.readString(net.folder().resolve("told")).toLowerCase(Locale.ROOT);
    int announced = told.lastIndexOf("\"announce\"");
    return announced > told.lastIndexOf("\"withdraw\"") ? told.substring(announced) : "";
  }

  @Override
  void assertAttributes(PathAttributes attributes) {
    assertEquals(400, attributes.pathBandwidth().gigabitsPerSecond());
    assertEquals(new ExtendedCommunity.Color(0, 7), attributes.color());
    assertEquals(new PathAttribute.Aigp(4), attributes.aigp());
    assertEquals(
        new ExtendedCommunity.LinkBandwidth(false, 65004, 125_000_000f),
        attributes.linkBandwidth());
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
}

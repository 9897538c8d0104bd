package io.heddle.bgpstub.interop;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bgp.bfd.BfdOptions;
import io.heddle.bgp.net.Endpoint;
import io.heddle.bgp.session.BgpSpeaker;
import io.heddle.bgp.session.PeerOptions;
import io.heddle.bgp.session.PeerSession;
import io.heddle.bgp.session.RecordingListener;
import io.heddle.bgp.wire.Prefix;
import io.heddle.platform.Shell;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * Test of BFD's source address on a link where a speaker's session uses an address that its kernel
 * wouldn't choose as a source.
 */
@EndsWithin(90)
@SystemTest
final class BfdSourceTest {
  private static final BfdOptions BFD = new BfdOptions(100, 5);

  private static PeerOptions.Builder peer(String name, String address, int own, int other) {
    return PeerOptions.builder(name)
        .remote(Prefix.of(address).address())
        .localAs(own)
        .remoteAs(other)
        .routerId(own)
        .retryMs(100, 500)
        .bfd(BFD);
  }

  private static void start(
      BgpSpeaker speaker, PeerOptions.Builder options, RecordingListener heard) {
    PeerSession session = speaker.add(options.build(), heard);
    speaker.execute(session::start);
  }

  private static void awaitUp(RecordingListener heard) throws Exception {
    Deadline deadline = Deadline.ofSeconds(45);
    while (!heard.log.toString().contains("BFD is up")) {
      assertTrue(!deadline.isOver(), () -> heard.events + "\n" + heard.log);
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }

  @Test
  void bfdUsesTheSessionsAddress() throws Exception {
    RecordingListener atHost = new RecordingListener();
    RecordingListener atLeaf = new RecordingListener();
    try (HostAndLeaf net = new HostAndLeaf();
        BgpSpeaker host = new BgpSpeaker(atHost.logTo());
        BgpSpeaker leaf = new BgpSpeaker(atLeaf.logTo())) {
      /* The kernel never chooses a deprecated address as a source by itself. */
      Shell.run(
          List.of(
              "ip",
              "-n",
              net.host(),
              "addr",
              "add",
              "fd00:1::3/64",
              "dev",
              "p1",
              "nodad",
              "preferred_lft",
              "0"));
      HostAndLeaf.moveIn(host, net.host());
      HostAndLeaf.moveIn(leaf, net.leaf());
      host.listen(Endpoint.anyAddress(179));
      start(host, peer("leaf", "fd00:1::1", 65_001, 65_002), atHost);
      start(leaf, peer("host", "fd00:1::3", 65_002, 65_001), atLeaf);
      awaitUp(atHost);
      awaitUp(atLeaf);
    }
  }
}

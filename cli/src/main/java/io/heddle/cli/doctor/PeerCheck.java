package io.heddle.cli.doctor;

import io.heddle.addr.AddressPrefix;
import io.heddle.addr.AddressText;
import io.heddle.addr.AssignedAddress;
import io.heddle.addr.Plane;
import io.heddle.addr.PlaneMarks;
import io.heddle.addr.PlaneMatching;
import io.heddle.addr.RocePorts;
import io.heddle.platform.HeddleException;
import io.heddle.platform.NanoClock;
import io.heddle.routes.PublishedPlane;
import io.heddle.routes.RouteAnswer;
import io.heddle.routes.RouteReader;
import io.heddle.verbs.Gid;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Check of each plane to a peer that runs {@code heddle doctor --answer}, by probes in RoCEv2's
 * format to RoCEv2's port.
 */
final class PeerCheck implements Check {
  private static final Cause SILENT =
      new Cause("peer-silent", "none of the named addresses of the peer answers");
  private static final Cause UNREACHABLE =
      new Cause("plane-unreachable", "one plane doesn't carry RoCEv2 to the peer; others do");
  private static final Cause MTU =
      new Cause(
          "mtu-blocked", "a plane passes small packets, but not those of its links' full size");
  private static final Cause UNPAIRED =
      new Cause(
          "planes-unpaired",
          "a plane of one end matches no plane of the other end by any mark, and is left out");
  private static final Cause WEIGHTLESS =
      new Cause("plane-weightless", "by the routes, a plane doesn't reach the peer");
  private static final Cause NONE_COMMON =
      new Cause("no-common-plane", "no mark of a plane matches one of the other end");
  private static final Cause PORTS =
      new Cause(
          "ports-blocked",
          "a plane passes UDP port 4791, but not the last of the ports at which ranks of one host"
              + " receive");
  private static final int TRIES = 5;
  private static final long WAIT_MS = 300;
  private static final int STEP_BYTES = 64;
  private static final int HALF_BITS = 64;

  private final List<InetAddress> peer;
  private long number = System.nanoTime();

  /**
   * Creates the check.
   *
   * @param peer addresses of the host to probe; empty for none
   */
  PeerCheck(List<InetAddress> peer) {
    this.peer = List.copyOf(peer);
  }

  @Override
  public String name() {
    return "peer";
  }

  @Override
  public String summary() {
    return "With --peer: the planes of both ends, and for each whether RoCEv2 packets on UDP port"
        + " 4791 pass there and back, small ones and those of the link's MTU, and small ones"
        + " to port 4854, the last port that ranks of one host share. The peer runs heddle"
        + " doctor --answer. It is probed at the named addresses, and at addresses with the"
        + " same host part in our other planes' subnets.";
  }

  @Override
  public List<Cause> causes() {
    return List.of(SILENT, UNREACHABLE, MTU, PORTS, UNPAIRED, NONE_COMMON, WEIGHTLESS);
  }

  @Override
  public List<Finding> run(Host host) {
    List<Finding> findings = new ArrayList<>();
    if (peer.isEmpty()) {
      return findings;
    }
    List<Plane> own = host.planes().planes();
    List<PlaneMarks> theirs = queryPeer(own, findings);
    if (theirs.isEmpty()) {
      findings.add(
          new Finding.Fault(
              SILENT,
              "no answer from %s, probed over our planes %s; its other addresses were not probed"
                  .formatted(
                      String.join(", ", peer.stream().map(AddressText::of).toList()),
                      own.stream().map(Plane::key).toList()),
              "run heddle doctor --answer there; also name its addresses on other planes (--peer"
                  + " ADDRESS,ADDRESS); then check routes, and filters of UDP ports"
                  + " 4791-4854, on the path"));
      return findings;
    }
    weights(host, pair(own, theirs, findings), findings);
    return findings;
  }

  /*
   * Returns the planes that the peer's first answer lists; empty without an answer. Probes the
   * named addresses over each plane, then the addresses that the peer probably has on the planes.
   */
  private List<PlaneMarks> queryPeer(List<Plane> own, List<Finding> findings) {
    Set<String> troubles = new LinkedHashSet<>();
    List<PlaneMarks> planes = new ArrayList<>();
    for (InetAddress address : peer) {
      for (Plane plane : own) {
        if (planes.isEmpty() && isOfOneFamily(plane, address)) {
          query(plane, address, planes, troubles);
        }
      }
    }
    for (Plane plane : own) {
      InetAddress beside = probableAddress(own, plane);
      if (planes.isEmpty() && beside != null) {
        query(plane, beside, planes, troubles);
      }
    }
    troubles.forEach(trouble -> findings.add(new Finding.Unknown(trouble)));
    return planes;
  }

  private void query(
      Plane plane, InetAddress remote, List<PlaneMarks> planes, Set<String> troubles) {
    InetAddress address = plane.address().address();
    try (ProbeSocket socket = new ProbeSocket(address, ProbePacket.PORT)) {
      Answer answer = probe(socket, remote, ProbePacket.SMALLEST_BYTES, 3);
      if (answer.text != null) {
        planes.addAll(OfferedPlanes.parse(answer.text));
      }
    } catch (IOException inUse) {
      troubles.add(
          "port %s of %s can't be used: %s (a running job's soft device, or the kernel's rxe)"
              .formatted(ProbePacket.PORT, AddressText.of(address), inUse.getMessage()));
    }
  }

  /**
   * Returns the peer's probable address on a plane: the plane's subnet with the host part of a
   * named address. The named address must lie in the subnet of another plane of this host. Null if
   * there is none.
   */
  private @Nullable InetAddress probableAddress(Collection<Plane> own, Plane plane) {
    for (InetAddress named : peer) {
      boolean onLink = own.stream().anyMatch(each -> subnet(each).includes(named));
      if (onLink && isOfOneFamily(plane, named) && !subnet(plane).includes(named)) {
        return subnet(plane).with(named);
      }
    }
    return null;
  }

  private static AddressPrefix subnet(Plane plane) {
    AssignedAddress own = plane.address();
    return new AddressPrefix(
        own.address(), own.address() instanceof Inet4Address ? own.prefixLength() : HALF_BITS);
  }

  private static boolean isOfOneFamily(Plane plane, InetAddress remote) {
    return plane.address().address().getClass() == remote.getClass();
  }

  /*
   * Checks the path of each plane that both ends have. Returns the peer's address on each, by the
   * plane's key on this host.
   */
  private Map<String, InetAddress> pair(
      List<Plane> own, List<PlaneMarks> theirs, List<Finding> findings) {
    List<PlaneMarks> here = own.stream().map(Plane::marks).toList();
    boolean oneHost =
        theirs.stream()
            .allMatch(
                plane -> here.stream().anyMatch(each -> each.address().equals(plane.address())));
    PlaneMatching matching = PlaneMatching.of(here, theirs, oneHost);
    Map<String, InetAddress> remotes = new TreeMap<>(Plane.KEY_ORDER);
    for (PlaneMatching.Match match : matching.matches()) {
      Plane plane = own.get(match.here());
      PlaneMarks remote = theirs.get(match.there());
      remotes.put(plane.key(), remote.address());
      String name =
          plane.key().equals(remote.key())
              ? plane.key()
              : "%s, there %s by %s".formatted(plane.key(), remote.key(), match.by().text());
      findings.add(checkPath(plane, name, remote.address()));
    }
    List<String> left = new ArrayList<>();
    matching.unmatchedHere().forEach(plane -> left.add(here.get(plane) + " here only"));
    matching.unmatchedThere().forEach(plane -> left.add(theirs.get(plane) + " there only"));
    here.stream()
        .filter(each -> matching.addressesOnBoth().contains(each.address()))
        .forEach(each -> left.add(each + ", whose address both hosts have"));
    String remedy =
        "HEDDLE_PLANES on both ends gives common keys; a route daemon must run on both or on"
            + " neither";
    if (remotes.isEmpty()) {
      findings.add(
          new Finding.Fault(NONE_COMMON, "here %s, there %s".formatted(here, theirs), remedy));
    } else if (!left.isEmpty()) {
      findings.add(
          new Finding.Warning(
              UNPAIRED,
              "%s planes here, %s there: %s"
                  .formatted(own.size(), theirs.size(), String.join(", ", left)),
              "check the missing port (ports, addresses) at the end that has fewer; else "
                  + remedy));
    }
    return remotes;
  }

  /* Reports the weight that the routes give each plane towards the peer's address on it. */
  private static void weights(Host host, Map<String, InetAddress> theirs, List<Finding> findings) {
    Path file = host.followedRoutes();
    if (file == null) {
      return;
    }
    try (RouteReader reader = RouteReader.open(file, NanoClock.SYSTEM)) {
      if (reader == null) {
        return;
      }
      List<PublishedPlane> published = reader.planes();
      RouteAnswer answer = new RouteAnswer();
      for (int i = 0; i < published.size(); i++) {
        String key = published.get(i).key();
        InetAddress remote = theirs.get(key);
        if (remote == null) {
          continue;
        }
        Gid address = Gid.of(remote);
        if (!reader.resolve(address.high(), address.low(), answer) || i >= answer.planes()) {
          findings.add(new Finding.Unknown("the routes change too fast to be read"));
          return;
        }
        String what =
            "%s to %s weighs %s: %s"
                .formatted(key, AddressText.of(remote), answer.weight(i), answer.reason(i).text());
        findings.add(
            answer.weight(i) > 0
                ? new Finding.Ok(what)
                : new Finding.Warning(
                    WEIGHTLESS, what, "heddle bgp show destination " + AddressText.of(remote)));
      }
    } catch (HeddleException unreadable) {
      findings.add(new Finding.Unknown(String.valueOf(unreadable.getMessage())));
    }
  }

  private Finding checkPath(Plane plane, String name, InetAddress remote) {
    InetAddress address = plane.address().address();
    String what = "%s, %s to %s".formatted(name, AddressText.of(address), AddressText.of(remote));
    try (ProbeSocket socket = new ProbeSocket(address, ProbePacket.PORT)) {
      Answer small = probe(socket, remote, ProbePacket.SMALLEST_BYTES, TRIES);
      if (small.text == null) {
        return new Finding.Fault(
            UNREACHABLE,
            "%s: no answer to %s packets%s".formatted(what, TRIES, small.refusals()),
            "check this plane's link and route here (ip -6 route get), at the leaf and at the peer,"
                + " and filters of UDP ports 4791-4854; jobs run without the plane; HEDDLE_PLANES"
                + " can leave it out");
      }
      int headers = ProbePacket.headerBytes(address);
      int full = plane.link().mtuBytes() - headers;
      Answer large = probe(socket, remote, full, TRIES);
      if (large.text == null) {
        int passing = largest(socket, remote, full);
        return new Finding.Fault(
            MTU,
            "%s: packets of %s bytes don't pass, those of %s do%s"
                .formatted(what, full + headers, passing + headers, large.refusals()),
            "give all links of the plane an MTU of %s (hosts, leaves, spines), or this one less; jobs"
                    .formatted(plane.link().mtuBytes())
                + " run if RoCEv2's largest packets, 4180 bytes, pass, but the soft device is"
                + " slower than it could be; otherwise jobs lose the plane");
      }
      if (probe(socket, remote, RocePorts.STANDARD.last(), ProbePacket.SMALLEST_BYTES, TRIES).text
          == null) {
        return new Finding.Fault(
            PORTS,
            "%s: UDP port %s is answered, port %s isn't"
                .formatted(what, ProbePacket.PORT, RocePorts.STANDARD.last()),
            "open UDP ports %s at %s and on the path: each rank of a host receives at one (%s)"
                .formatted(RocePorts.STANDARD, AddressText.of(remote), RocePorts.VARIABLE));
      }
      return new Finding.Ok(
          String.format(
              Locale.ROOT,
              "%s: carries %d bytes there and back, %.0f us",
              what,
              plane.link().mtuBytes(),
              Math.min(small.bestNs, large.bestNs) / 1e3));
    } catch (IOException inUse) {
      return new Finding.Unknown(
          "%s: port %s can't be used: %s (a running job's soft device, or the kernel's rxe)"
              .formatted(what, ProbePacket.PORT, inUse.getMessage()));
    }
  }

  /* Returns the length of the longest probe that passes, by bisection; accurate to 64 bytes. */
  private int largest(ProbeSocket socket, InetAddress remote, int tooLarge) {
    int passes = ProbePacket.SMALLEST_BYTES;
    int fails = tooLarge;
    while (fails - passes > STEP_BYTES) {
      int middle = (passes + fails) / 2;
      if (probe(socket, remote, middle, 2).text == null) {
        fails = middle;
      } else {
        passes = middle;
      }
    }
    return passes;
  }

  /**
   * Result of a probe.
   *
   * @param text text of the answer; null if none arrived
   * @param bestNs shortest round trip; valid only with an answer
   * @param refused the kernel's message if it refused to send; else null
   */
  private record Answer(@Nullable String text, long bestNs, @Nullable String refused) {
    String refusals() {
      return refused == null ? "" : " (the kernel: " + refused + ")";
    }
  }

  private Answer probe(ProbeSocket socket, InetAddress remote, int lengthBytes, int tries) {
    return probe(socket, remote, ProbePacket.PORT, lengthBytes, tries);
  }

  private Answer probe(
      ProbeSocket socket, InetAddress remote, int port, int lengthBytes, int tries) {
    InetSocketAddress to = new InetSocketAddress(remote, port);
    @Nullable String text = null;
    @Nullable String refused = null;
    long bestNs = Long.MAX_VALUE;
    for (int i = 0; i < tries; i++) {
      number++;
      long start = System.nanoTime();
      try {
        socket.send(new ProbePacket(ProbePacket.REQUEST, number, "", lengthBytes), to);
        ProbeSocket.Received received = socket.receive(WAIT_MS);
        while (received != null && received.packet().number() != number) {
          received = socket.receive(WAIT_MS);
        }
        if (received != null && received.packet().kind() == ProbePacket.ANSWER) {
          text = received.packet().text();
          bestNs = Math.min(bestNs, System.nanoTime() - start);
        }
      } catch (IOException failure) {
        refused = failure.getMessage();
      }
    }
    return new Answer(text, bestNs, refused);
  }
}

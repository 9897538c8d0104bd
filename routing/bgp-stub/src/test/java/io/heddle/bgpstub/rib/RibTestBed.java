package io.heddle.bgpstub.rib;

import io.heddle.bgp.wire.AsPath;
import io.heddle.bgp.wire.ExtendedCommunity;
import io.heddle.bgp.wire.NextHop;
import io.heddle.bgp.wire.Nlri;
import io.heddle.bgp.wire.PathAttribute;
import io.heddle.bgp.wire.PathAttributes;
import io.heddle.bgp.wire.Prefix;
import io.heddle.bgp.wire.UpdateMessage;
import io.heddle.platform.NanoClock;
import io.heddle.routes.RouteAnswer;
import io.heddle.routes.RoutePublisher;
import io.heddle.routes.RouteReader;
import io.heddle.routes.WeightRules;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** Test bed: a RIB that writes a routes file, and a reader of that file. */
final class RibTestBed implements AutoCloseable {
  private static final NextHop NEXT_HOP = new NextHop(0xfe80_0000_0000_0000L, 1, 0, 0);

  final List<String> log = new ArrayList<>();
  final Path path;
  final RoutePublisher publisher;
  final Rib rib;

  RibTestBed(Path folder, RibOptions options) {
    path = folder.resolve("routes");
    publisher = RoutePublisher.create(path, "a test", WeightRules.DEFAULT, 100, NanoClock.SYSTEM);
    publisher.goLive();
    rib = new Rib(publisher, options, Runnable::run, (level, line) -> log.add(line));
  }

  static RibTestBed of(Path folder) {
    return new RibTestBed(folder, RibOptions.DEFAULT);
  }

  static PathAttributes attributes(AsPath path, PathAttribute... more) {
    List<PathAttribute> all = new ArrayList<>(List.of(PathAttribute.Origin.IGP));
    all.add(new PathAttribute.Path(path));
    all.addAll(List.of(more));
    return new PathAttributes(all);
  }

  static PathAttribute communities(ExtendedCommunity... all) {
    return new PathAttribute.ExtendedCommunities(List.of(all));
  }

  static ExtendedCommunity gbps(int value) {
    return new ExtendedCommunity.PathBandwidth(true, 0x0a000301, value);
  }

  static ExtendedCommunity colour(int value) {
    return new ExtendedCommunity.Color(0, value);
  }

  static UpdateMessage announce(String prefix, ExtendedCommunity... communities) {
    return announce(prefix, attributes(AsPath.of(65301, 65201), communities(communities)));
  }

  static UpdateMessage announce(String prefix, PathAttributes attributes) {
    return UpdateMessage.announce(Nlri.of(Prefix.of(prefix)), attributes, NEXT_HOP);
  }

  static UpdateMessage withdraw(String prefix) {
    return UpdateMessage.withdraw(Nlri.of(Prefix.of(prefix)));
  }

  /** Returns the weights that readers get, one per plane, in Gbit/s. */
  String weights(String destination) {
    RouteAnswer answer = answer(destination);
    StringBuilder text = new StringBuilder();
    for (int plane = 0; plane < answer.planes(); plane++) {
      text.append(plane == 0 ? "" : ",").append(answer.weight(plane) / 100_000.0);
    }
    return text.toString().replace(".0", "");
  }

  RouteAnswer answer(String destination) {
    Prefix host = Prefix.of(destination);
    RouteAnswer answer = new RouteAnswer();
    try (RouteReader reader = Objects.requireNonNull(RouteReader.open(path, NanoClock.SYSTEM))) {
      if (!reader.resolve(host.high(), host.low(), answer)) {
        throw new AssertionError("no whole state");
      }
    }
    return answer;
  }

  @Override
  public void close() {
    publisher.close();
  }
}

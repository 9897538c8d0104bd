package io.heddle.sim.control;

import io.heddle.bgp.wire.Prefix;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import java.util.function.DoubleConsumer;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * Simulation that counts the routes of each network card and leaf under each {@link RouteScheme}. A
 * few cards have the route daemon's real table, which receives the routes message by message. The
 * routes of all other cards are only counted. Tables and counts must agree with the formulas of
 * draft-xu-idr-fare-in-mpson.
 */
public final class ControlPlane {
  /**
   * Maximum number of hosts per plane whose loss of the plane is announced and timed one by one.
   */
  private static final int MOST_TIMED = 50;

  private static final double NS_PER_US = 1e3;

  private final RouteFabric fabric;
  private final int sample;

  /**
   * @param sample number of cards with a real table, spread evenly over all cards
   */
  public ControlPlane(RouteFabric fabric, int sample) {
    this.fabric = fabric;
    this.sample = sample;
  }

  /**
   * Fills the tables and returns one row per scheme.
   *
   * @param progress receives the finished fraction of the work
   */
  public List<SchemeRow> run(DoubleConsumer progress) {
    List<SchemeRow> rows = new ArrayList<>();
    int done = 0;
    for (RouteScheme scheme : RouteScheme.values()) {
      List<Tables> tables = new ArrayList<>();
      for (int i = 0; i < sample; i++) {
        tables.add(fill(scheme, (int) ((long) i * fabric.hosts() / sample)));
        progress.accept((double) ++done / (sample * RouteScheme.values().length));
      }
      rows.add(row(scheme, tables));
    }
    return rows;
  }

  /*
   * Results of one card's table. {@code lossNs} has one time for each host that loses a plane, in
   * ascending order. The time begins when the leaf reports the loss, and ends when the card's jobs
   * no longer send to that host on that plane.
   */
  private record Tables(
      int host,
      long routes,
      long afterLosses,
      int prefixes,
      boolean avoidsLostPlanes,
      long[] lossNs) {}

  private Tables fill(RouteScheme scheme, int host) {
    try (SampledCard card = new SampledCard(fabric)) {
      for (int plane = 0; plane < fabric.planes(); plane++) {
        card.announce(plane, announced(scheme, host));
      }
      long before = card.routes();
      boolean isRight = true;
      LongStream.Builder times = LongStream.builder();
      for (int plane = 0; plane < fabric.planes(); plane++) {
        List<Integer> lost = lost(scheme, host, plane);
        int timed = Math.min(lost.size(), MOST_TIMED);
        for (int other : lost.subList(0, timed)) {
          times.add(timeOfLoss(card, scheme, plane, other));
        }
        lose(card, scheme, plane, lost.subList(timed, lost.size()));
      }
      for (int plane = 0; plane < fabric.planes(); plane++) {
        for (int other : lost(scheme, host, plane)) {
          for (int each = 0; each < fabric.planes(); each++) {
            isRight &= card.reaches(other, each) == (each != plane);
          }
        }
      }
      isRight &= card.faults().isEmpty();
      long[] lossNs = times.build().sorted().toArray();
      return new Tables(host, before, card.routes(), card.prefixes(), isRight, lossNs);
    }
  }

  private long timeOfLoss(SampledCard card, RouteScheme scheme, int plane, int host) {
    long began = System.nanoTime();
    lose(card, scheme, plane, List.of(host));
    card.publish();
    return System.nanoTime() - began;
  }

  private void lose(SampledCard card, RouteScheme scheme, int plane, List<Integer> hosts) {
    List<Prefix> lost = hosts.stream().map(fabric::host).toList();
    if (scheme == RouteScheme.AGGREGATE) {
      card.unreachable(plane, lost);
    } else {
      card.withdraw(plane, lost);
    }
  }

  /* Returns the prefixes that a leaf announces to a card while every host is reachable. */
  private List<Prefix> announced(RouteScheme scheme, int host) {
    return switch (scheme) {
      case HOST_ROUTES -> IntStream.range(0, fabric.hosts()).mapToObj(fabric::host).toList();
      case AGGREGATE -> IntStream.range(0, fabric.leaves()).mapToObj(fabric::leaf).toList();
      case ORF -> fabric.peersOf(host).stream().map(fabric::host).toList();
    };
  }

  /* Returns the hosts that have lost a plane and whose loss is announced to a card. */
  private List<Integer> lost(RouteScheme scheme, int host, int plane) {
    List<Integer> all = fabric.unreachableIn(plane);
    if (scheme != RouteScheme.ORF) {
      return all;
    }
    TreeSet<Integer> peers = new TreeSet<>(fabric.peersOf(host));
    return all.stream().filter(peers::contains).toList();
  }

  private long arithmetic(RouteScheme scheme) {
    return switch (scheme) {
      case HOST_ROUTES -> (long) fabric.hosts() * fabric.planes();
      case AGGREGATE -> (long) fabric.leaves() * fabric.planes();
      case ORF -> (long) fabric.peers() * fabric.planes();
    };
  }

  private SchemeRow row(RouteScheme scheme, List<Tables> tables) {
    long arithmetic = arithmetic(scheme);
    int[] counted = routesPerHostAfterLosses(scheme);
    boolean areEqual = true;
    boolean avoid = true;
    for (Tables each : tables) {
      areEqual &= each.routes() == arithmetic && each.afterLosses() == counted[each.host()];
      avoid &= each.avoidsLostPlanes();
    }
    long own = Math.min(fabric.hosts(), fabric.hostsPerLeaf());
    long others = fabric.leaves() - 1L;
    boolean isAggregated = scheme == RouteScheme.AGGREGATE;
    Tables first = tables.getFirst();
    return new SchemeRow(
        scheme.toString(),
        arithmetic,
        first.routes(),
        first.afterLosses(),
        Arrays.stream(counted).min().orElseThrow(),
        Arrays.stream(counted).max().orElseThrow(),
        first.prefixes(),
        isAggregated ? own + others + fabric.unreachableIn(0).size() : fabric.hosts(),
        isAggregated ? own + others : fabric.hosts(),
        own + others,
        first.lossNs().length == 0 ? null : first.lossNs()[first.lossNs().length / 2] / NS_PER_US,
        first.lossNs().length == 0 ? null : first.lossNs()[first.lossNs().length - 1] / NS_PER_US,
        avoid,
        areEqual);
  }

  /* Returns the number of routes of every card after the losses, counted without a table. */
  private int[] routesPerHostAfterLosses(RouteScheme scheme) {
    int[] lostPlanes = new int[fabric.hosts()];
    int losses = 0;
    for (int plane = 0; plane < fabric.planes(); plane++) {
      for (int host : fabric.unreachableIn(plane)) {
        lostPlanes[host]++;
        losses++;
      }
    }
    int[] routes = new int[fabric.hosts()];
    int before = Math.toIntExact(arithmetic(scheme));
    for (int host = 0; host < routes.length; host++) {
      routes[host] =
          switch (scheme) {
            case HOST_ROUTES -> before - losses;
            case AGGREGATE -> before + losses;
            case ORF ->
                before - fabric.peersOf(host).stream().mapToInt(peer -> lostPlanes[peer]).sum();
          };
    }
    return routes;
  }
}

package io.heddle.tools.lab;

import io.heddle.platform.FileFailure;
import io.heddle.platform.NanoClock;
import io.heddle.routes.PublishedPlane;
import io.heddle.routes.RouteAnswer;
import io.heddle.routes.RouteReader;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * Route daemons on the hosts of a fabric. Each has a session to its host's leaf, or to the leaf of
 * each plane. {@link #close} ends them.
 */
public final class FabricRouteDaemons implements AutoCloseable {
  private static final int AS = 65_001;
  private static final long READY_SECONDS = 40;
  private static final long END_SECONDS = 10;
  private static final long POLL_MS = 50;

  private final Fabric fabric;
  private final Path folder;
  private final List<String> heddle;
  private final List<Process> daemons = new ArrayList<>();

  /**
   * Starts the daemons and waits until each has published two things: a route to every other host
   * on every plane, and the plane of each address of its host. A job that starts before the planes
   * are published would name its planes itself and find no weights for these names.
   *
   * @param heddle command line of the {@code heddle} command
   * @throws LabException if a daemon ends or isn't ready in time; no daemon is left running then
   */
  public FabricRouteDaemons(Fabric fabric, Path folder, List<String> heddle) {
    this.fabric = fabric;
    this.folder = folder;
    this.heddle = List.copyOf(heddle);
    try {
      for (int host = 1; host <= fabric.plan().hosts(); host++) {
        daemons.add(start(host));
      }
      awaitRoutes();
    } catch (IOException failed) {
      close();
      throw cannotStart(failed);
    } catch (RuntimeException failed) {
      close();
      throw failed;
    }
  }

  private static LabException cannotStart(IOException failed) {
    return new LabException("can't start a route daemon: " + failed.getMessage(), failed);
  }

  /** Kills a host's daemon with SIGKILL. Hosts count from 1. */
  public void kill(int host) {
    Process daemon = daemons.get(host - 1);
    daemon.destroyForcibly();
    try {
      daemon.waitFor(END_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Starts a new daemon for a host whose daemon has ended. Doesn't wait for the daemon's routes.
   */
  public void restart(int host) {
    if (daemons.get(host - 1).isAlive()) {
      return;
    }
    try {
      daemons.set(host - 1, start(host));
    } catch (IOException failed) {
      throw cannotStart(failed);
    }
  }

  /**
   * Waits until every daemon has published every route, each on the plane's own path.
   *
   * @throws LabException if a daemon ends or is not ready in time
   */
  public void awaitRoutes() {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(READY_SECONDS);
    try {
      for (int host = 1; host <= daemons.size(); host++) {
        awaitRoutes(host, deadline);
      }
    } catch (IOException failed) {
      throw new LabException("can't read a routes file: " + FileFailure.reason(failed), failed);
    }
  }

  /** Returns the routes file of a host. Hosts count from 1. */
  public Path file(int host) {
    return folder.resolve("routes-h" + host);
  }

  private Path log(int host) {
    return folder.resolve("bgp-h" + host + ".log");
  }

  private Process start(int host) throws IOException {
    Path configuration = folder.resolve("bgp-h" + host + ".conf");
    Files.writeString(
        configuration,
        """
        as = %s
        publish = %s
        control = %s
        hold-time-s = %s

        %s\
        """
            .formatted(
                AS,
                file(host),
                folder.resolve("bgp-h" + host + ".sock"),
                fabric.plan().holdSeconds(),
                peers()));
    List<String> command = new ArrayList<>(heddle);
    command.addAll(List.of("bgp", "run", "--config", configuration.toString()));
    return new ProcessBuilder(fabric.onHost(host, command))
        .redirectErrorStream(true)
        .redirectOutput(log(host).toFile())
        .start();
  }

  private String peers() {
    if (fabric.plan().shape() == FabricShape.LEAF_SPINE) {
      return "[peer leaf]\ninterface = e0\nplane = by-colour\n";
    }
    StringBuilder peers = new StringBuilder();
    for (int plane = 1; plane <= fabric.plan().planes(); plane++) {
      peers.append(
          String.format(Locale.ROOT, "[peer leaf%1$d]\ninterface = e%1$d\nplane = %1$d\n", plane));
    }
    return peers.toString();
  }

  /* Returns the key by which the route daemons name a plane. */
  private String key(int plane) {
    return (fabric.plan().shape() == FabricShape.LEAF_SPINE ? "colour:" : "plane:") + plane;
  }

  private void awaitRoutes(int host, long deadline) throws IOException {
    while (!hasAllRoutes(host)) {
      if (!daemons.get(host - 1).isAlive() || System.nanoTime() - deadline > 0) {
        throw new LabException(
            "the route daemon of h"
                + host
                + " has not published every route; its log ends: "
                + Files.readString(log(host)).lines().reduce("", (before, line) -> line));
      }
      FabricDaemons.pause(POLL_MS);
    }
  }

  private boolean hasAllRoutes(int host) throws IOException {
    RouteReader reader = RouteReader.open(file(host), NanoClock.SYSTEM);
    if (reader == null) {
      return false;
    }
    try (reader) {
      List<String> keys = reader.planes().stream().map(PublishedPlane::key).toList();
      for (int plane = 1; plane <= fabric.plan().planes(); plane++) {
        InetAddress own = InetAddress.getByName(fabric.address(host, plane));
        int index = keys.indexOf(key(plane));
        if (index < 0 || !own.equals(reader.planes().get(index).source())) {
          return false;
        }
      }
      RouteAnswer answer = new RouteAnswer();
      for (int other = 1; other <= daemons.size(); other++) {
        for (int plane = 1; plane <= fabric.plan().planes(); plane++) {
          ByteBuffer bits =
              ByteBuffer.wrap(InetAddress.getByName(fabric.address(other, plane)).getAddress());
          int index = keys.indexOf(key(plane));
          if (other != host
              && (index < 0
                  || !reader.resolve(bits.getLong(), bits.getLong(), answer)
                  || !answer.reason(index).carriesTraffic()
                  || answer.isOverOtherPlane(index))) {
            return false;
          }
        }
      }
    }
    return true;
  }

  /**
   * Waits until every host's daemon has published a plane's weight towards every other host.
   *
   * @param plane number of the plane, from 1
   * @param megabitsPerSecond weight of the plane
   * @throws LabException if that takes too long
   */
  public void awaitWeight(int plane, int megabitsPerSecond) throws IOException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(READY_SECONDS);
    for (int host = 1; host <= daemons.size(); host++) {
      while (!hasWeight(host, plane, megabitsPerSecond)) {
        if (System.nanoTime() - deadline > 0) {
          throw new LabException(
              "the route daemon of h%s has not published %s Mbit/s for plane %s within %s s"
                  .formatted(host, megabitsPerSecond, plane, READY_SECONDS));
        }
        FabricDaemons.pause(POLL_MS);
      }
    }
  }

  private boolean hasWeight(int host, int plane, int megabitsPerSecond) throws IOException {
    try (RouteReader reader = RouteReader.open(file(host), NanoClock.SYSTEM)) {
      if (reader == null) {
        return false;
      }
      int index =
          reader.planes().stream().map(PublishedPlane::key).toList().indexOf("colour:" + plane);
      RouteAnswer answer = new RouteAnswer();
      for (int other = 1; other <= daemons.size(); other++) {
        ByteBuffer bits =
            ByteBuffer.wrap(InetAddress.getByName(fabric.address(other, plane)).getAddress());
        if (other != host
            && (index < 0
                || !reader.resolve(bits.getLong(), bits.getLong(), answer)
                || answer.bandwidthMbps(index) != megabitsPerSecond)) {
          return false;
        }
      }
      return true;
    }
  }

  @Override
  public void close() {
    daemons.forEach(Process::destroy);
    for (Process daemon : daemons) {
      try {
        if (!daemon.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
          daemon.destroyForcibly();
        }
      } catch (InterruptedException interrupted) {
        daemon.destroyForcibly();
        Thread.currentThread().interrupt();
      }
    }
  }
}

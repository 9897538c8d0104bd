package io.heddle.tools.lab;

import io.heddle.tools.lab.FabricTopology.End;
import io.heddle.tools.lab.FabricTopology.Link;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Emulation of bursts of other traffic on the planes of a leaf-spine fabric. The first leaf's hosts
 * see them: each plane repeatedly loses most of its rate from that leaf towards the spine for a
 * while, independently of other planes. The durations with and without burst are random with
 * exponential distributions of means {@link #BURST_MS} and {@link #CALM_MS}; a seed determines
 * them.
 *
 * <p>One {@code tc} process applies all changes. Each run has a thread that writes to that process.
 */
public final class PlaneBursts implements AutoCloseable {
  private static final double CALM_MS = 400;
  private static final double BURST_MS = 100;

  /** Share of a plane's rate that remains in a burst. */
  private static final double BURST_SHARE = 0.2;

  private static final double NS_PER_MS = 1e6;
  private static final long END_SECONDS = 5;

  private final FabricLinks links;
  private final FabricTopology topology;
  private final List<Link> uplinks;
  private final Process tc;

  PlaneBursts(FabricLinks links, FabricTopology topology) {
    this.links = links;
    this.topology = topology;
    String leaf = topology.nodes(FabricTopology.Role.LEAF).getFirst().name();
    uplinks =
        topology.planeLinks().stream()
            .filter(link -> link.leaf().node().name().equals(leaf))
            .toList();
    try {
      tc =
          new ProcessBuilder(
                  links.inside(
                      uplinks.getFirst().leaf().node(), List.of("tc", "-force", "-batch", "-")))
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
    } catch (IOException missing) {
      throw new LabException("can't start tc: " + missing.getMessage(), missing);
    }
  }

  /** Starts bursts until the run is closed. */
  public Run begin(long seed) {
    return new Run(seed);
  }

  private void set(int plane, double share) throws IOException {
    Link link = uplinks.get(plane);
    End end = link.leaf();
    long rate = (long) (topology.plan().rate(link.plane()) * share);
    String line = links.shaping(end, link.plane(), rate) + "\n";
    tc.getOutputStream().write(line.getBytes(StandardCharsets.UTF_8));
    tc.getOutputStream().flush();
  }

  /** Period with bursts. When it ends, the planes have their full rates again. */
  public final class Run implements AutoCloseable {
    private volatile @Nullable Throwable failure;
    private final Random random;
    private final double[] share = new double[uplinks.size()];
    private final long[] changesAtNs = new long[uplinks.size()];
    private final double[] bitNanoseconds = new double[uplinks.size()];
    private final long startNs = System.nanoTime();
    private final Thread thread;
    private volatile boolean over;
    private volatile long endNs;

    private Run(long seed) {
      random = new Random(seed);
      thread = Thread.ofPlatform().name("heddle-bursts").start(this::burst);
    }

    private long randomDurationNs(double meanMs) {
      return (long) (-Math.log(1 - random.nextDouble()) * meanMs * NS_PER_MS);
    }

    private void burst() {
      try {
        loop();
      } catch (Throwable failed) {
        failure = failed;
      }
    }

    private void loop() {
      long[] sinceNs = new long[share.length];
      for (int plane = 0; plane < share.length; plane++) {
        share[plane] = 1;
        sinceNs[plane] = startNs;
        changesAtNs[plane] = startNs + randomDurationNs(CALM_MS);
      }
      try {
        while (!over) {
          long now = System.nanoTime();
          long next = now + TimeUnit.MILLISECONDS.toNanos(20);
          for (int plane = 0; plane < share.length; plane++) {
            if (changesAtNs[plane] - now <= 0) {
              addBits(plane, sinceNs, now);
              share[plane] = share[plane] == 1 ? BURST_SHARE : 1;
              set(plane, share[plane]);
              changesAtNs[plane] = now + randomDurationNs(share[plane] == 1 ? CALM_MS : BURST_MS);
            }
            next = Math.min(next, changesAtNs[plane]);
          }
          TimeUnit.NANOSECONDS.sleep(Math.max(0, next - System.nanoTime()));
        }
        endNs = System.nanoTime();
        for (int plane = 0; plane < share.length; plane++) {
          addBits(plane, sinceNs, endNs);
          set(plane, 1);
        }
      } catch (IOException ended) {
        throw new LabException("tc accepts no more changes: " + ended.getMessage(), ended);
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
      }
    }

    private void addBits(int plane, long[] sinceNs, long now) {
      double rate = topology.plan().rate(uplinks.get(plane).plane()) * share[plane];
      bitNanoseconds[plane] += rate * (now - sinceNs[plane]);
      sinceNs[plane] = now;
    }

    /** Ends the bursts. */
    @Override
    public void close() {
      over = true;
      try {
        thread.join();
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
      }
    }

    /**
     * Returns the mean sum of all planes' rates over the run, in bit/s; valid after {@link #close}.
     */
    public double bitsPerSecond() {
      Throwable failed = failure;
      if (failed != null) {
        throw new LabException("the bursts ended early: " + failed, failed);
      }
      double sum = 0;
      for (double each : bitNanoseconds) {
        sum += each;
      }
      return sum / (endNs - startNs);
    }
  }

  /** Ends {@code tc}. Each run has already restored the planes' rates. */
  @Override
  public void close() {
    try {
      tc.getOutputStream().close();
      if (!tc.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
        tc.destroyForcibly();
      }
    } catch (IOException ended) {
      tc.destroyForcibly();
    } catch (InterruptedException interrupted) {
      tc.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}

package io.heddle.gateway.probe;

import io.heddle.platform.Errno;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.Log;
import io.heddle.platform.ResilientThread;
import io.heddle.platform.SystemCallException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Prober of lists, and reflector for the far gateway's probes. Any thread may read the results. */
public final class Probes implements AutoCloseable {
  private static final int EPOLL_CTL_ADD = 1;
  private static final int EPOLLIN = 1;

  /* epoll_event is packed on x86-64 (12 bytes) and has 16 bytes elsewhere. */
  private static final int EVENT_BYTES = System.getProperty("os.arch").equals("amd64") ? 12 : 16;
  private static final int MOST_EVENTS = 64;
  private static final int MOST_PACKETS_A_TURN = 64;
  private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(1);

  /**
   * Target of a list's probes.
   *
   * @param mark mark by which the kernel routes the probes over the list
   */
  public record Target(int list, InetAddress source, InetAddress reflector, int mark) {}

  private record Probed(StampSocket socket, ListProbe probe) {}

  private final Map<Integer, Probed> byList = new TreeMap<>();
  private final Map<Integer, Probed> byDescriptor = new HashMap<>();
  private final @Nullable StampSocket reflector;
  private final long intervalNs;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment events = arena.allocate((long) MOST_EVENTS * EVENT_BYTES, 8);
  private final int epoll;
  private long nextNs = System.nanoTime();
  private volatile Runnable whenLost = () -> {};
  private boolean closed;

  private Probes(long intervalNs, @Nullable StampSocket reflector, int epoll) {
    this.intervalNs = intervalNs;
    this.reflector = reflector;
    this.epoll = epoll;
  }

  /**
   * Opens the sockets in the calling thread's network namespace, and starts the thread.
   *
   * @param reflectAt address of this host that answers probes; null for none
   * @throws SystemCallException if a socket can't be opened, with the address
   */
  public static Probes start(
      Iterable<Target> targets, @Nullable InetAddress reflectAt, long intervalNs, Log log) {
    StampSocket reflector =
        reflectAt == null ? null : StampSocket.reflector(reflectAt, StampPacket.PORT);
    int epoll = LinuxCalls.epollCreate();
    if (epoll < 0) {
      throw new SystemCallException("epoll_create1", -epoll);
    }
    Probes probes = new Probes(intervalNs, reflector, epoll);
    try {
      if (reflector != null) {
        probes.follow(reflector);
      }
      for (Target target : targets) {
        StampSocket socket =
            StampSocket.sender(
                target.source(), target.reflector(), StampPacket.PORT, target.mark());
        Probed probed = new Probed(socket, new ListProbe(PATIENCE_NS));
        probes.byList.put(target.list(), probed);
        probes.byDescriptor.put(socket.fileDescriptor(), probed);
        probes.follow(socket);
      }
    } catch (RuntimeException failed) {
      probes.release();
      throw failed;
    }
    new ResilientThread("heddle-gateway-probes", log, probes::round)
        .onPersistentFailure(() -> probes.whenLost.run())
        .start();
    return probes;
  }

  /**
   * Sets the action that runs when the thread of the probes keeps failing. It runs on that thread.
   */
  public void onPersistentFailure(Runnable end) {
    whenLost = end;
  }

  private void follow(StampSocket socket) {
    events.fill((byte) 0);
    events.set(ValueLayout.JAVA_INT, 0, EPOLLIN);
    events.set(ValueLayout.JAVA_INT, EVENT_BYTES == 12 ? 4 : 8, socket.fileDescriptor());
    int result =
        LinuxCalls.epollControl(epoll, EPOLL_CTL_ADD, socket.fileDescriptor(), events.address());
    if (result < 0) {
      throw new SystemCallException("epoll_ctl", -result);
    }
  }

  private boolean round() {
    long waitNs;
    synchronized (this) {
      if (closed) {
        release();
        return false;
      }
      long now = System.nanoTime();
      if (now - nextNs >= 0) {
        byList.values().forEach(each -> sendOne(each, now));
        /* After a scheduling delay, missed probes aren't made up for. */
        nextNs = Math.max(nextNs + intervalNs, now);
      }
      waitNs = Math.min(nextNs - now, intervalNs);
    }
    int ready =
        LinuxCalls.epollWait(
            LinuxCalls.errnoCapture(),
            epoll,
            events.address(),
            MOST_EVENTS,
            (int) Math.max(1, TimeUnit.NANOSECONDS.toMillis(waitNs)));
    if (ready < 0 && ready != -Errno.EINTR) {
      throw new SystemCallException("epoll_wait", -ready);
    }
    synchronized (this) {
      for (int i = 0; i < ready; i++) {
        int fd =
            events.get(
                ValueLayout.JAVA_INT_UNALIGNED,
                (long) i * EVENT_BYTES + (EVENT_BYTES == 12 ? 4 : 8));
        Probed probed = byDescriptor.get(fd);
        if (probed != null) {
          readAnswers(probed);
        } else if (reflector != null) {
          reflect(reflector);
        }
      }
    }
    return true;
  }

  private static long wallTime() {
    Instant now = Instant.now();
    return StampPacket.timestamp(now.getEpochSecond(), now.getNano());
  }

  /*
   * A probe that can't be sent, such as without a route, counts as lost like a probe lost in
   * transit.
   */
  private static void sendOne(Probed probed, long now) {
    probed.socket.send(StampPacket.probe(probed.probe.send(now), wallTime()));
  }

  /*
   * Reads a limited number of answers, so that a flooded socket doesn't hold the lock; epoll then
   * reports the socket again.
   */
  private static void readAnswers(Probed probed) {
    for (int i = 0; i < MOST_PACKETS_A_TURN; i++) {
      ByteBuffer answer = probed.socket.receive();
      if (answer == null) {
        return;
      }
      if (answer.remaining() >= StampPacket.BYTES) {
        probed.probe.answered(
            StampPacket.sequence(answer), System.nanoTime(), StampPacket.reflectorNs(answer));
      }
    }
  }

  private static void reflect(StampSocket socket) {
    for (int i = 0; i < MOST_PACKETS_A_TURN; i++) {
      ByteBuffer probe = socket.receive();
      if (probe == null) {
        return;
      }
      if (probe.remaining() >= StampPacket.BYTES) {
        long received = wallTime();
        socket.sendBack(StampPacket.answer(probe, received, wallTime(), socket.hopLimit()));
      }
    }
  }

  /** Returns the result of each probed list, by id. */
  public synchronized Map<Integer, ProbeResult> results() {
    long now = System.nanoTime();
    Map<Integer, ProbeResult> results = new TreeMap<>();
    byList.forEach((list, probed) -> {
      probed.probe.giveUp(now);
      results.put(list, probed.probe.result());
    });
    return results;
  }

  /* Runs on the thread of the probes, which may be in epoll_wait during close(). */
  private void release() {
    byList.values().forEach(each -> each.socket.close());
    if (reflector != null) {
      reflector.close();
    }
    LinuxCalls.close(epoll);
    arena.close();
  }

  /** Ends the thread within one interval. */
  @Override
  public synchronized void close() {
    closed = true;
  }
}

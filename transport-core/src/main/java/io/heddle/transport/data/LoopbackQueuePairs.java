package io.heddle.transport.data;

import io.heddle.platform.Errno;
import io.heddle.qppool.PlaneQueuePair;
import io.heddle.qppool.PlaneQueuePair.LinkSettings;
import io.heddle.qppool.PlaneQueuePair.QueueDepths;
import io.heddle.qppool.PlaneQueuePair.RemoteEnd;
import io.heddle.transport.device.LocalPlane;
import io.heddle.transport.device.NetDevice;
import io.heddle.verbs.CompletionQueue;
import io.heddle.verbs.DeviceAttributes;
import io.heddle.verbs.SendWorkRequest;
import io.heddle.verbs.VerbsException;
import io.heddle.verbs.WorkCompletion;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Queue pairs connected with themselves, one on each plane's address of a device, by which the
 * adapter reads and writes this end's own memory. If one fails, its requests are posted on the next
 * one. A plane that returns gets a new queue pair. One thread at a time.
 */
public final class LoopbackQueuePairs implements AutoCloseable {
  /** Maximum number of requests in flight. */
  public static final int DEPTH = 256;

  private static final int POLL_BATCH = 16;
  private static final int PAIR_SHIFT = 32;
  /* Id of the single receive of each queue pair, which only completes when the queue pair fails. */
  private static final long RECEIVE = -1;

  /** Listener of completed requests. */
  @FunctionalInterface
  public interface Listener {
    /**
     * Handles a completed request.
     *
     * @param number number under which the request was posted
     */
    void done(int number);
  }

  /** Queue pair with its number of requests in flight. */
  private static final class Loopback {
    private final PlaneQueuePair pair;
    private int underWay;
    private boolean broken;
    private boolean closed;

    Loopback(PlaneQueuePair pair) {
      this.pair = pair;
    }

    boolean isUsable() {
      return !broken && !closed;
    }

    void close() {
      if (!closed) {
        closed = true;
        pair.close();
      }
    }
  }

  private final NetDevice device;
  private final String purpose;
  private final CompletionQueue cq;
  /*
   * Requests refer to a queue pair by its index. An index is reused once all requests of the old
   * queue pair are done.
   */
  private final List<Loopback> loopbacks = new ArrayList<>();
  /* Requests by number, kept while in flight: a request may have to be posted again. */
  private final @Nullable SendWorkRequest[] requests;
  private final WorkCompletion[] completions = WorkCompletion.batch(POLL_BATCH);
  private int current;
  private int underWay;

  /**
   * @param numbers exclusive upper bound of request numbers; no two requests in flight have the
   *     same number
   * @param purpose description of the requests, for messages about their failure
   * @throws VerbsException when the device refuses; nothing stays open then
   */
  public LoopbackQueuePairs(NetDevice device, int numbers, String purpose) {
    this.device = device;
    this.purpose = purpose;
    requests = new SendWorkRequest[numbers];
    /* The capacity includes the receives of old queue pairs beside those of their replacements. */
    int completions = (DEPTH + 2) * device.planes().size();
    requireRoom(device, completions);
    cq = device.context().createCompletionQueue(completions);
    try {
      connectAll();
    } catch (RuntimeException refused) {
      close();
      throw refused;
    }
  }

  private void requireRoom(NetDevice device, int completions) {
    DeviceAttributes limits = device.context().attributes();
    if (limits.maxWorkRequests() < DEPTH || limits.maxCompletions() < completions) {
      throw new VerbsException(
          "create_cq",
          ("%s of device %s, which takes %s work requests in a queue (max_qp_wr) and %s completions"
               + " in a queue (max_cqe): over its %s planes %s and %s are needed, name fewer with"
               + " HEDDLE_PLANES")
              .formatted(
                  purpose,
                  device.name(),
                  limits.maxWorkRequests(),
                  limits.maxCompletions(),
                  device.planes().size(),
                  DEPTH,
                  completions),
          Errno.EINVAL);
    }
  }

  /* Connects a queue pair on each plane. A plane that is down now gets one when it returns. */
  private void connectAll() {
    VerbsException last = null;
    for (LocalPlane plane : device.planes()) {
      try {
        connect(plane);
      } catch (VerbsException refused) {
        last = refused;
      }
    }
    int first = nextUsable(-1);
    if (first < 0 && last != null) {
      throw last;
    }
    current = first;
  }

  private void connect(LocalPlane plane) {
    PlaneQueuePair pair =
        PlaneQueuePair.create(
            plane.key(), plane.gid(), device.pd(), cq, new QueueDepths(DEPTH, 1, 0));
    Loopback loopback = new Loopback(pair);
    loopback.broken = true;
    place(loopback);
    pair.connect(
        new RemoteEnd(
            plane.gid(),
            pair.queuePair().number(),
            pair.startPsn(),
            pair.queuePair().endpointParameters()),
        plane.mtu(),
        LinkSettings.DEFAULT,
        RECEIVE);
    loopback.broken = false;
  }

  private void place(Loopback fresh) {
    for (int i = 0; i < loopbacks.size(); i++) {
      if (loopbacks.get(i).closed && loopbacks.get(i).underWay == 0) {
        loopbacks.set(i, fresh);
        return;
      }
    }
    loopbacks.add(fresh);
  }

  /** Returns the number of queue pairs, closed ones included. */
  int pairs() {
    return loopbacks.size();
  }

  /**
   * Connects a new queue pair for a plane that returned, perhaps at another address.
   *
   * @throws VerbsException when the device refuses; requests go on as before
   */
  public void renew(LocalPlane plane) {
    boolean served = false;
    for (Loopback loopback : loopbacks) {
      if (loopback.pair.planeKey().equals(plane.key()) && !loopback.closed) {
        if (loopback.isUsable() && loopback.pair.localGid().equals(plane.gid())) {
          served = true;
        } else if (loopback.underWay == 0) {
          loopback.close();
        }
      }
    }
    if (!served) {
      connect(plane);
    }
    if (!loopbacks.get(current).isUsable() && loopbacks.get(current).underWay == 0) {
      current = Math.max(current, nextUsable(current));
    }
  }

  /* Returns the next usable queue pair after this one, cyclically; −1 where there is none. */
  private int nextUsable(int after) {
    for (int i = 1; i <= loopbacks.size(); i++) {
      int next = (after + i) % loopbacks.size();
      if (next != after && loopbacks.get(next).isUsable()) {
        return next;
      }
    }
    return -1;
  }

  /** Returns the request of this number, for the caller to fill and {@link #post}. */
  public SendWorkRequest request(int number) {
    SendWorkRequest request = requests[number];
    if (request == null) {
      request = new SendWorkRequest();
      requests[number] = request;
    }
    request.signalled = true;
    return request;
  }

  /**
   * Posts a request.
   *
   * @return 0, or a negated errno; −1 for a full queue
   */
  public int post(int number) {
    int code = postOver(number);
    underWay += code == 0 ? 1 : 0;
    return code;
  }

  private int postOver(int number) {
    SendWorkRequest request = request(number);
    request.id = (long) current << PAIR_SHIFT | number;
    Loopback loopback = loopbacks.get(current);
    int taken = loopback.pair.queuePair().postSend(request);
    loopback.underWay += taken == 1 ? 1 : 0;
    return taken == 1 ? 0 : taken < 0 ? taken : -1;
  }

  /** Returns whether every request is done. */
  public boolean isIdle() {
    return underWay == 0;
  }

  /**
   * Reports the requests that are done.
   *
   * @return null, or the failure of a request
   */
  public @Nullable String progress(Listener listener) {
    while (underWay > 0) {
      int count = cq.poll(completions);
      for (int i = 0; i < count; i++) {
        String failed = take(completions[i], listener);
        if (failed != null) {
          return failed;
        }
      }
      if (count < 0) {
        return "the completion queue of " + purpose + " overran";
      }
      if (count < POLL_BATCH) {
        break;
      }
    }
    return null;
  }

  private @Nullable String take(WorkCompletion each, Listener listener) {
    if (each.workRequestId == RECEIVE) {
      return null;
    }
    int number = (int) each.workRequestId;
    int place = (int) (each.workRequestId >>> PAIR_SHIFT);
    Loopback loopback = loopbacks.get(place);
    loopback.underWay--;
    if (each.status == WorkCompletion.Status.SUCCESS) {
      underWay--;
      listener.done(number);
      return null;
    }
    loopback.broken = true;
    return repostOnNextPair(place, number)
        ? null
        : "%s failed with %s over %s, the last one left"
            .formatted(purpose, each.status, loopbacks.get(current).pair);
  }

  private boolean repostOnNextPair(int failed, int number) {
    int next = failed == current ? nextUsable(current) : -1;
    current = next < 0 ? current : next;
    return failed != current && postOver(number) == 0;
  }

  @Override
  public void close() {
    loopbacks.forEach(Loopback::close);
    cq.close();
  }
}

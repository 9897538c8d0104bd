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
 * Queue pairs that are connected with themselves, one on each plane's address of a device. By them
 * the adapter reads and writes this end's memory as peers have it do. Where one fails, what it was
 * asked goes over the next. A plane that is back gets another one. By one thread at a time.
 */
public final class LoopbackQueuePairs implements AutoCloseable {
  /** Requests that may be under way. */
  public static final int DEPTH = 256;

  private static final int POLL_BATCH = 16;
  private static final int PAIR_SHIFT = 32;
  /* Id of the one receive of each queue pair, which only completes when the pair fails. */
  private static final long RECEIVE = -1;

  /** Hears of requests that are done. */
  @FunctionalInterface
  public interface Listener {
    /**
     * @param number as the request was posted by
     */
    void done(int number);
  }

  /** A queue pair, with what it is asked to do. */
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
  /* Requests know theirs by its place, which another one has once all of them are done. */
  private final List<Loopback> loopbacks = new ArrayList<>();
  /* By number, as long as each is under way: it may have to be posted again. */
  private final @Nullable SendWorkRequest[] requests;
  private final WorkCompletion[] completions = WorkCompletion.batch(POLL_BATCH);
  private int current;
  private int underWay;

  /**
   * @param numbers of requests; those that are under way have different ones
   * @param purpose of the requests, for what is told of their failure
   * @throws VerbsException when the device refuses; nothing stays open then
   */
  public LoopbackQueuePairs(NetDevice device, int numbers, String purpose) {
    this.device = device;
    this.purpose = purpose;
    requests = new SendWorkRequest[numbers];
    /* Beside those that have replaced them, old queue pairs have their one receive left. */
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

  /* A plane that isn't there now is taken when it is back. */
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

  /** How many queue pairs there are, closed ones included. */
  int pairs() {
    return loopbacks.size();
  }

  /**
   * A plane is back, perhaps at another address: requests may go over it again.
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

  /* The first after this one, round and round; −1 without. */
  private int nextUsable(int after) {
    for (int i = 1; i <= loopbacks.size(); i++) {
      int next = (after + i) % loopbacks.size();
      if (next != after && loopbacks.get(next).isUsable()) {
        return next;
      }
    }
    return -1;
  }

  /** The request of that number, for the caller to fill, and then to {@link #post}. */
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

  /** Whether every request is done. */
  public boolean isIdle() {
    return underWay == 0;
  }

  /**
   * Tells of the requests that are done.
   *
   * @return null, or how one failed
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

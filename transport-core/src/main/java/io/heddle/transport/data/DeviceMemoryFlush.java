package io.heddle.transport.data;

import io.heddle.platform.Memory;
import io.heddle.qppool.PlaneQueuePair;
import io.heddle.qppool.PlaneQueuePair.LinkSettings;
import io.heddle.qppool.PlaneQueuePair.QueueDepths;
import io.heddle.qppool.PlaneQueuePair.RemoteEnd;
import io.heddle.transport.device.LocalPlane;
import io.heddle.transport.device.NetDevice;
import io.heddle.verbs.CompletionQueue;
import io.heddle.verbs.MemoryRegion;
import io.heddle.verbs.ProtectionDomain;
import io.heddle.verbs.SendWorkRequest;
import io.heddle.verbs.VerbsException;
import io.heddle.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Makes what was received visible to the owner of device memory. A completion says that the
 * adapter's writes have left for the bus; a read of the same memory by the same adapter can't
 * overtake them there, so once it has completed they have arrived. The read goes over a queue pair
 * that is connected with itself; there is one on each plane's address, and where one fails, its
 * reads go over the next. A plane that is back gets another one.
 *
 * <p>Made by the service thread; all else with the communicator's baton.
 */
final class DeviceMemoryFlush implements AutoCloseable {
  /* As many as a communicator has groups under way, so that posting finds room whenever a line is free. */
  private static final int DEPTH = 256;
  private static final int POLL_BATCH = 16;
  private static final int READ_BYTES = 1;
  private static final int PAIR_SHIFT = 32;
  /* Id of the one receive of each queue pair, which only completes when the pair fails. */
  private static final long RECEIVE = -1;

  /** A queue pair, with what it is asked to do. */
  private static final class Way {
    private final PlaneQueuePair pair;
    private int underWay;
    private boolean broken;
    private boolean closed;

    Way(PlaneQueuePair pair) {
      this.pair = pair;
    }

    boolean isSound() {
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
  private final RequestLines lines;
  private final Arena arena = Arena.ofShared();
  private final CompletionQueue cq;
  private final MemoryRegion target;
  /* Requests know theirs by its place, so none is taken out. */
  private final List<Way> ways = new ArrayList<>();
  private final SendWorkRequest request = new SendWorkRequest();
  private final WorkCompletion[] completions = WorkCompletion.batch(POLL_BATCH);
  private final long[] addressOfLine;
  private final int[] keyOfLine;
  private int current;
  private int underWay;

  /**
   * @param lines where its requests are told as done
   * @throws io.heddle.verbs.VerbsException when the device refuses; nothing stays open then
   */
  DeviceMemoryFlush(NetDevice device, RequestLines lines) {
    this.device = device;
    this.lines = lines;
    addressOfLine = new long[lines.count()];
    keyOfLine = new int[lines.count()];
    /* Beside those that have replaced them, old queue pairs have their one receive left. */
    cq = device.context().createCompletionQueue((DEPTH + 2) * device.planes().size());
    MemoryRegion region = null;
    try {
      region =
          device
              .pd()
              .registerMemory(
                  Memory.allocate(arena, Long.BYTES, Long.BYTES),
                  Long.BYTES,
                  EnumSet.of(ProtectionDomain.Access.LOCAL_WRITE));
      connectAll();
    } catch (RuntimeException refused) {
      close(region);
      throw refused;
    }
    target = region;
    request.operation = SendWorkRequest.Operation.RDMA_READ;
    request.signalled = true;
    request.localAddress = target.address();
    request.lengthBytes = READ_BYTES;
    request.lkey = target.lkey();
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
    int first = nextSound(-1);
    if (first < 0 && last != null) {
      throw last;
    }
    current = first;
  }

  private void connect(LocalPlane plane) {
    PlaneQueuePair pair =
        PlaneQueuePair.create(
            plane.key(), plane.gid(), device.pd(), cq, new QueueDepths(DEPTH, 1, 0));
    Way way = new Way(pair);
    way.broken = true;
    ways.add(way);
    pair.connect(
        new RemoteEnd(
            plane.gid(),
            pair.queuePair().number(),
            pair.startPsn(),
            pair.queuePair().endpointParameters()),
        plane.mtu(),
        LinkSettings.DEFAULT,
        RECEIVE);
    way.broken = false;
  }

  /**
   * A plane is back, perhaps at another address: reads may go over it again.
   *
   * @throws VerbsException when the device refuses; reads go on as before
   */
  void renew(LocalPlane plane) {
    boolean served = false;
    for (Way way : ways) {
      if (way.pair.planeKey().equals(plane.key()) && !way.closed) {
        if (way.isSound() && way.pair.localGid().equals(plane.gid())) {
          served = true;
        } else if (way.underWay == 0) {
          way.close();
        }
      }
    }
    if (!served) {
      connect(plane);
    }
    if (!ways.get(current).isSound() && ways.get(current).underWay == 0) {
      current = Math.max(current, nextSound(current));
    }
  }

  /* The first after this one, round and round; −1 without. */
  private int nextSound(int after) {
    for (int i = 1; i <= ways.size(); i++) {
      int next = (after + i) % ways.size();
      if (next != after && ways.get(next).isSound()) {
        return next;
      }
    }
    return -1;
  }

  /**
   * Reads the first byte of a buffer.
   *
   * @param line of the request, claimed; it is completed when the read is
   * @return 0, or a negated errno; −1 for a full queue
   */
  int post(int line, long address, int rkey) {
    addressOfLine[line] = address;
    keyOfLine[line] = rkey;
    int code = read(line);
    underWay += code == 0 ? 1 : 0;
    return code;
  }

  private int read(int line) {
    request.id = (long) current << PAIR_SHIFT | line;
    request.remoteAddress = addressOfLine[line];
    request.rkey = keyOfLine[line];
    Way way = ways.get(current);
    int taken = way.pair.queuePair().postSend(request);
    way.underWay += taken == 1 ? 1 : 0;
    return taken == 1 ? 0 : taken < 0 ? taken : -1;
  }

  /**
   * Completes the requests whose reads are done.
   *
   * @return null, or how a read failed
   */
  @Nullable String progress() {
    while (underWay > 0) {
      int count = cq.poll(completions);
      for (int i = 0; i < count; i++) {
        WorkCompletion each = completions[i];
        int line = (int) each.workRequestId;
        if (each.workRequestId == RECEIVE) {
          continue;
        }
        int place = (int) (each.workRequestId >>> PAIR_SHIFT);
        Way way = ways.get(place);
        way.underWay--;
        if (each.status == WorkCompletion.Status.SUCCESS) {
          underWay--;
          lines.complete(line, 0);
        } else {
          way.broken = true;
          if (!goesOverNext(place, line)) {
            return "the read that flushes device memory failed with %s over %s, the last one left"
                .formatted(each.status, ways.get(current).pair);
          }
        }
      }
      if (count < 0) {
        return "the completion queue of the flush of device memory overran";
      }
      if (count < POLL_BATCH) {
        break;
      }
    }
    return null;
  }

  private boolean goesOverNext(int failed, int line) {
    int next = failed == current ? nextSound(current) : -1;
    current = next < 0 ? current : next;
    return failed != current && read(line) == 0;
  }

  private void close(@Nullable MemoryRegion region) {
    ways.forEach(Way::close);
    if (region != null) {
      region.close();
    }
    cq.close();
    arena.close();
  }

  @Override
  public void close() {
    close(target);
  }
}

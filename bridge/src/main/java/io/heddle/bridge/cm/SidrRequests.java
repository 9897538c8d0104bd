package io.heddle.bridge.cm;

import io.heddle.verbs.Gid;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Table of the SIDR requests that the bridge has forwarded and that wait for replies. The bridge
 * replaces each client's request id by one of its own, since two clients may choose the same id.
 *
 * <p>A repeated request is matched by client and request id. An answered request stays until its
 * deadline, since the reply may be lost and the request repeated. The table is bounded: the least
 * recently used request is evicted first. Used by the data thread only; it allocates.
 */
public final class SidrRequests {
  /** Time that a request waits for its reply. */
  public static final long WAIT_NS = 10_000_000_000L;

  private final int most;
  private final RandomGenerator ids;
  private final LinkedHashMap<Key, Request> byClient = new LinkedHashMap<>(64, 0.75f, true);
  private final Map<Integer, Request> byOwnId = new HashMap<>();
  private int open;
  private long evicted;
  private long earliestNs;

  private record Key(Gid client, int clientId) {}

  /** Forwarded request. */
  public static final class Request {
    private final Gid client;
    private final int clientId;
    private final Gid server;
    private final int ownId;
    private long transaction;
    private long serviceId;
    private long deadlineNs;
    private boolean open;

    private Request(Gid client, int clientId, Gid server, int ownId) {
      this.client = client;
      this.clientId = clientId;
      this.server = server;
      this.ownId = ownId;
    }

    public Gid client() {
      return client;
    }

    /** Returns the request id that the client has chosen. */
    public int clientId() {
      return clientId;
    }

    /** Returns the host that the request was sent to. */
    public Gid server() {
      return server;
    }

    /** Returns the bridge's own request id, which the server sees. */
    public int ownId() {
      return ownId;
    }

    /** Returns the transaction id of the request as the client last sent it. */
    public long transaction() {
      return transaction;
    }

    public long serviceId() {
      return serviceId;
    }
  }

  /** Kind of a received request. */
  public enum Arrival {
    NEW,
    REPEAT
  }

  /**
   * @param most maximum number of requests in the table
   * @param ids source of the bridge's own request ids
   */
  public SidrRequests(int most, RandomGenerator ids) {
    this.most = most;
    this.ids = ids;
  }

  /**
   * Records a client's request. {@link #find(Gid, int)} finds it afterwards.
   *
   * @return whether it repeats a known request
   */
  public Arrival arrived(
      Gid client, int clientId, Gid server, long transaction, long serviceId, long nowNs) {
    Key key = new Key(client, clientId);
    Request request = byClient.get(key);
    /* A known id with another host or service is a new request. */
    boolean repeat =
        request != null && request.server.equals(server) && request.serviceId == serviceId;
    if (request != null && !repeat) {
      forget(request);
      byClient.remove(key);
    }
    if (request == null || !repeat) {
      makeRoom();
      request = new Request(client, clientId, server, freshId());
      byClient.put(key, request);
      byOwnId.put(request.ownId, request);
    }
    request.transaction = transaction;
    request.serviceId = serviceId;
    if (!request.open) {
      request.open = true;
      request.deadlineNs = nowNs + WAIT_NS;
      /*
       * Newer requests have later deadlines. So this deadline is the earliest only if the table has
       * no other request.
       */
      if (byClient.size() == 1) {
        earliestNs = request.deadlineNs;
      }
      open++;
    }
    return repeat ? Arrival.REPEAT : Arrival.NEW;
  }

  private void makeRoom() {
    if (byClient.size() >= most) {
      Iterator<Request> oldest = byClient.values().iterator();
      Request gone = oldest.next();
      oldest.remove();
      forget(gone);
      evicted++;
    }
  }

  private void forget(Request request) {
    byOwnId.remove(request.ownId);
    close(request);
  }

  private void close(Request request) {
    if (request.open) {
      request.open = false;
      open--;
    }
  }

  private int freshId() {
    int id = ids.nextInt();
    while (byOwnId.containsKey(id)) {
      id = ids.nextInt();
    }
    return id;
  }

  /** Returns a client's request; null if there is none. */
  public @Nullable Request find(Gid client, int clientId) {
    return byClient.get(new Key(client, clientId));
  }

  /** Returns the waiting request with this id; null if none waits. */
  public @Nullable Request findOpen(int ownId) {
    Request request = byOwnId.get(ownId);
    return request == null || !request.open ? null : request;
  }

  /** Marks a request as answered. It stays until its deadline, for repeats. */
  public void replied(Request request) {
    close(request);
  }

  /**
   * Removes the requests whose deadline has passed.
   *
   * @param unanswered called for each removed request that got no reply
   */
  public void expire(long nowNs, Consumer<Request> unanswered) {
    if (byClient.isEmpty() || nowNs - earliestNs < 0) {
      return;
    }
    long earliest = nowNs + WAIT_NS;
    for (Iterator<Request> all = byClient.values().iterator(); all.hasNext(); ) {
      Request request = all.next();
      if (nowNs - request.deadlineNs >= 0) {
        boolean waited = request.open;
        all.remove();
        forget(request);
        if (waited) {
          unanswered.accept(request);
        }
      } else if (request.deadlineNs - earliest < 0) {
        earliest = request.deadlineNs;
      }
    }
    earliestNs = earliest;
  }

  /** Returns the number of requests that wait for replies. */
  public int open() {
    return open;
  }

  /** Returns the number of requests in the table, answered ones included. */
  public int size() {
    return byClient.size();
  }

  /** Returns the number of requests evicted from a full table. */
  public long evicted() {
    return evicted;
  }
}

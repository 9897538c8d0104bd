package io.heddle.bridge.unicast;

import io.heddle.bridge.cm.SidrReply;
import io.heddle.bridge.cm.SidrRequests;
import io.heddle.bridge.cm.SidrService;
import io.heddle.bridge.status.DropReason;
import io.heddle.bridge.status.GroupCounters;
import io.heddle.bridge.status.UnicastCounters;
import io.heddle.verbs.Gid;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Clients in a fabric on a libibverbs device. They resolve a service by RDMA CM, and get the number
 * of a queue pair of the bridge.
 */
final class VerbsClients implements SidrClients {
  private static final long REPEAT_NS = 500_000_000;

  private final int side;
  private final long counters;
  private final MappedEnd end;
  private final SidrService service;
  private final FarEnd far;
  private final QueuePairMap numbers;
  private final RandomGenerator ids;
  private final Map<Integer, PendingRequest> pending = new LinkedHashMap<>();
  private ProxyAddresses proxyAddresses = ProxyAddresses.NONE;

  /** Sender of requests to hosts of the other fabric. */
  interface FarEnd {
    /**
     * Sends a request.
     *
     * @param id the bridge's request id
     * @param hosts source and destination address of the request
     * @return whether the caller must repeat the request, since it may be lost
     */
    boolean send(int id, SidrService.IncomingSidrRequest request, HostPair hosts, long nowNs);
  }

  private static final class PendingRequest {
    private final int id;
    private final SidrService.IncomingSidrRequest request;
    private final HostPair hosts;
    private final long deadlineNs;
    private long repeatNs;

    private PendingRequest(
        int id, SidrService.IncomingSidrRequest request, HostPair hosts, long nowNs) {
      this.id = id;
      this.request = request;
      this.hosts = hosts;
      deadlineNs = nowNs + SidrRequests.WAIT_NS;
      repeatNs = nowNs;
    }
  }

  /**
   * @param side fabric of the clients, 0 for a
   * @param counters address of the counters of packets from that fabric
   * @param end the bridge's port in that fabric
   * @param service SIDR service in that fabric
   * @param far sends requests to hosts of the other fabric
   * @param ids source of the bridge's own request ids
   */
  VerbsClients(
      int side,
      long counters,
      MappedEnd end,
      SidrService service,
      FarEnd far,
      QueuePairMap numbers,
      RandomGenerator ids) {
    this.side = side;
    this.counters = counters;
    this.end = end;
    this.service = service;
    this.far = far;
    this.numbers = numbers;
    this.ids = ids;
  }

  /** Sets the current proxy addresses. */
  void use(ProxyAddresses now) {
    proxyAddresses = now;
  }

  /** Handles a client's request. */
  void request(SidrService.IncomingSidrRequest request, long nowNs) {
    Gid address = request.address();
    Gid client = request.client();
    Gid host = proxyAddresses.hostOf(side, address.high(), address.low());
    Gid from = proxyAddresses.addressOf(side, client.high(), client.low());
    UnicastCounters.requested(counters, false);
    if (host == null
        || from == null
        || host.isIpv4Mapped() != from.isIpv4Mapped()
        || pending.size() >= QueuePairOne.MOST_REQUESTS) {
      GroupCounters.arrived(counters, 1);
      GroupCounters.dropped(counters, DropReason.NO_PROXY_ADDRESS, 1);
      service.refuse(request.id());
      return;
    }
    int id = ids.nextInt();
    while (pending.containsKey(id)) {
      id = ids.nextInt();
    }
    pending.put(id, new PendingRequest(id, request, new HostPair(from, host), nowNs));
    count();
  }

  private void count() {
    UnicastCounters.requests(counters, pending.size(), 0);
  }

  /** Returns source and destination of the waiting request with this id; null if none waits. */
  @Nullable HostPair hostsOf(int id) {
    PendingRequest pendingRequest = pending.get(id);
    return pendingRequest == null ? null : pendingRequest.hosts;
  }

  @Override
  public void answered(SidrService.Answer answer, long nowNs) {
    PendingRequest pendingRequest = pending.remove(answer.token());
    if (pendingRequest == null) {
      return;
    }
    UnicastCounters.replied(counters);
    int index =
        answer.status() == SidrReply.STATUS_SUCCESS
            ? numbers.assign(
                side,
                new HostPair(pendingRequest.request.client(), pendingRequest.hosts.destination()),
                answer.number(),
                answer.key(),
                nowNs)
            : QueuePairMap.NONE;
    if (index == QueuePairMap.NONE) {
      service.refuse(pendingRequest.request.id());
    } else {
      service.accept(pendingRequest.request.id(), end.numberOf(index), answer.privateData());
    }
    count();
  }

  @Override
  public void expire(long nowNs) {
    if (pending.isEmpty()) {
      return;
    }
    for (Iterator<PendingRequest> all = pending.values().iterator(); all.hasNext(); ) {
      PendingRequest each = all.next();
      if (nowNs - each.deadlineNs >= 0) {
        all.remove();
        UnicastCounters.timedOut(counters);
        service.refuse(each.request.id());
      } else if (nowNs - each.repeatNs >= 0) {
        boolean repeats = far.send(each.id, each.request, each.hosts, nowNs);
        each.repeatNs = repeats ? nowNs + REPEAT_NS : each.deadlineNs;
      }
    }
    count();
  }
}

package io.heddle.bridge.unicast;

import io.heddle.bridge.cm.CmaHeader;
import io.heddle.bridge.cm.ManagementDatagram;
import io.heddle.bridge.cm.PrivateBytes;
import io.heddle.bridge.cm.SidrRequest;
import io.heddle.bridge.cm.SidrRequests;
import io.heddle.bridge.cm.SidrRequests.Request;
import io.heddle.bridge.cm.SidrService;
import io.heddle.bridge.status.DropReason;
import io.heddle.bridge.status.UnicastCounters;
import io.heddle.verbs.Gid;
import java.util.Objects;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Clients in a fabric on the wire. They resolve a service by SIDR, and get the number of the remote
 * host's own queue pair.
 */
final class WireClients implements SidrClients {
  private final int trafficClass;
  private final long counters;
  private final SidrService service;
  private final ManagementSender own;
  private final SidrRequests requests;

  /**
   * @param counters address of the counters of packets from the clients' fabric
   * @param service sends requests to the other fabric's hosts
   * @param own sends the bridge's messages to the clients
   */
  WireClients(
      int trafficClass,
      long counters,
      SidrService service,
      ManagementSender own,
      RandomGenerator ids) {
    this.trafficClass = trafficClass;
    this.counters = counters;
    this.service = service;
    this.own = own;
    requests = new SidrRequests(QueuePairOne.MOST_REQUESTS, ids);
  }

  @Nullable DropReason request(long mad, HostPair near, HostPair far, long nowNs) {
    long serviceId = SidrRequest.serviceId(mad);
    long header = SidrRequest.privateData(mad);
    if (!CmaHeader.isDatagramService(serviceId) || !CmaHeader.isValid(header)) {
      return DropReason.MALFORMED_MAD;
    }
    Gid client = near.source();
    int clientId = SidrRequest.requestId(mad);
    Request before = requests.find(client, clientId);
    boolean waits = before != null && requests.findOpen(before.ownId()) == before;
    long transaction = ManagementDatagram.transaction(mad);
    SidrRequests.Arrival arrival =
        requests.arrived(client, clientId, near.destination(), transaction, serviceId, nowNs);
    boolean repeat = arrival == SidrRequests.Arrival.REPEAT;
    UnicastCounters.requested(counters, repeat);
    if (!repeat || !waits) {
      Request request = Objects.requireNonNull(requests.find(client, clientId));
      service.request(
          request.ownId(),
          far.source(),
          far.destination(),
          CmaHeader.servicePort(serviceId),
          PrivateBytes.read(header + CmaHeader.BYTES, PrivateBytes.IN_REQUEST));
    }
    count();
    return null;
  }

  /* Rejects the request for a reliable connection, which can't cross the bridge. */
  void refuse(long mad, HostPair near, long nowNs) {
    own.refuse(mad, near.destination(), near.source(), trafficClass, nowNs);
  }

  private void count() {
    UnicastCounters.requests(counters, requests.open(), requests.evicted());
  }

  @Override
  public void answered(SidrService.Answer answer, long nowNs) {
    Request request = requests.findOpen(answer.token());
    if (request != null) {
      requests.replied(request);
      UnicastCounters.replied(counters);
      own.answer(request, answer, trafficClass, nowNs);
      count();
    }
  }

  @Override
  public void expire(long nowNs) {
    if (requests.size() > 0) {
      requests.expire(
          nowNs,
          request -> {
            UnicastCounters.timedOut(counters);
            own.fail(request, trafficClass, nowNs);
          });
      count();
    }
  }
}

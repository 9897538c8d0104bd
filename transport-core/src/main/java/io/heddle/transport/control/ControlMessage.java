package io.heddle.transport.control;

import io.heddle.addr.PlaneMarks;
import io.heddle.verbs.Gid;
import io.heddle.verbs.PathMtu;
import java.net.InetSocketAddress;
import java.util.List;

/** Message between the two ends of a connection. */
public sealed interface ControlMessage {
  /**
   * First message of each end.
   *
   * @param version protocol version, {@link ControlCodec#VERSION}
   * @param features bits: {@link #SPANS_ALL_PLANES}, {@link #ANSWER}
   * @param token the listener's secret, 16 bytes
   * @param call number that the connecting end gives to the connect, the same on each of its
   *     channels; at a reconnect listener, the number of the round of attempts; 0 in an answer
   */
  record Hello(int version, int features, byte[] token, long call) implements ControlMessage {
    /**
     * Bit of the features: each queue pair spans all planes. The connecting end requests this, and
     * the other end confirms it.
     */
    public static final int SPANS_ALL_PLANES = 1;

    /**
     * Bit of the features that marks an answer. A Hello without it is no answer, but for example an
     * echo of the initiator's own Hello.
     */
    public static final int ANSWER = 2;

    /** Returns the Hello of this release, either a connecting end's or the answer to one. */
    public static Hello of(boolean answers, boolean spansAllPlanes, byte[] token, long call) {
      int features = (spansAllPlanes ? SPANS_ALL_PLANES : 0) | (answers ? ANSWER : 0);
      return new Hello(ControlCodec.VERSION, features, token, answers ? 0 : call);
    }

    /** Returns whether the sender requests or confirms queue pairs that span all planes. */
    public boolean spansAllPlanes() {
      return (features & SPANS_ALL_PLANES) != 0;
    }

    /** Returns whether the accepting end sent this message. */
    public boolean isAnswer() {
      return (features & ANSWER) != 0;
    }
  }

  /**
   * Planes of the sending end.
   *
   * @param host the sender's name, for the other end's log
   * @param namespace the sender's {@link NamespaceId#ID}
   * @param queuePairsPerPlane number of queue pairs that the sending end requests on each plane;
   *     the smaller request of both ends applies
   */
  record PlaneList(String host, long namespace, int queuePairsPerPlane, List<PlaneOffer> planes)
      implements ControlMessage {
    public PlaneList {
      planes = List.copyOf(planes);
    }
  }

  /**
   * Plane of a {@link PlaneList}, with all marks by which it can be matched.
   *
   * @param key the sending host's name of the plane
   * @param ownKey name that the sending host would use without a route daemon
   * @param prefixLength length of the address's on-link prefix in bits
   * @param interfaceName name of the sending host's interface with the address
   */
  record PlaneOffer(
      String key, String ownKey, Gid gid, int prefixLength, String interfaceName, PathMtu mtu) {
    /** Returns the marks (keys, address, interface) by which the planes of two ends are matched. */
    public PlaneMarks marks() {
      return new PlaneMarks(key, ownKey, gid.toAddress(), prefixLength, interfaceName);
    }

    /** Returns this plane at another address. */
    public PlaneOffer at(PlaneAddress next) {
      return new PlaneOffer(key, ownKey, next.gid(), prefixLength, interfaceName, next.mtu());
    }
  }

  /**
   * Queue pairs of the sending end: one for each common plane, then perhaps a second one for each,
   * and so on.
   *
   * @param ringAddress address of the ring into which the peer writes clear-to-send entries; 0 from
   *     the receiver of data
   * @param ringKey remote key of the ring
   * @param receiveDepth receives that this end keeps posted on each queue pair
   */
  record Endpoints(long ringAddress, int ringKey, int receiveDepth, List<Endpoint> endpoints)
      implements ControlMessage {
    public Endpoints {
      endpoints = List.copyOf(endpoints);
    }
  }

  /**
   * Queue pair of {@link Endpoints}.
   *
   * @param startPsn first packet sequence number that this end sends
   * @param parameters opaque parameters between the two ends' providers, at most 64 bytes
   */
  record Endpoint(String planeKey, int queuePairNumber, int startPsn, byte[] parameters) {}

  /**
   * Addresses at which the sending end accepts a new control channel after the loss of this one.
   * Sent again when they change.
   *
   * @param ticket secret that a reconnecting peer has to present, 16 bytes
   */
  public record ReconnectAddresses(byte[] ticket, List<InetSocketAddress> addresses)
      implements ControlMessage {
    public ReconnectAddresses {
      addresses = List.copyOf(addresses);
    }
  }

  /**
   * Sign of life and acknowledgement.
   *
   * @param received number of messages, Pings aside, that the sending end has received
   * @param next number of the message that the sending end sends next on this channel, Pings aside
   */
  record Ping(long received, long next) implements ControlMessage {}

  /** The sending end's queue pairs can receive. */
  record Ready() implements ControlMessage {}

  /** The sending end has closed in good order; this is its last message. */
  record Closing() implements ControlMessage {}

  /**
   * The communicator of the sending end has failed: it sends no more data and accepts none.
   *
   * @param reason for the other end's log
   */
  record Failed(String reason) implements ControlMessage {}

  /** Message about one plane of an established connection. */
  sealed interface PlaneMessage extends ControlMessage {
    /** Returns the plane's key. */
    String plane();
  }

  /**
   * The sending end has noticed a failure of a plane and is fencing it; the other end must fence
   * it, too.
   *
   * @param epoch epoch of the plane
   * @param reason for the other end's log
   */
  record PlaneDown(String plane, int epoch, String reason) implements PlaneMessage {}

  /**
   * The sending end is fenced: no packet of this plane and epoch has any effect on it any more.
   *
   * @param oldest from a receiver of data, the number of its first incomplete group of receives;
   *     from a sender of data, 0
   * @param next from a receiver of data, the number of the group that it opens next; from a sender
   *     of data, 0
   * @param arrivals from a receiver of data, the chunks of open groups that have arrived over any
   *     plane. A receive without an entry in this list has no arrived chunk
   */
  record Fenced(String plane, int epoch, long oldest, long next, List<Arrival> arrivals)
      implements PlaneMessage {
    public Fenced {
      arrivals = List.copyOf(arrivals);
    }
  }

  /**
   * Arrived chunks of one receive.
   *
   * @param count number of chunks of the receive's message
   * @param chunks bit i is set if chunk i has arrived
   */
  record Arrival(int slot, int generation, int receive, int count, long chunks) {}

  /**
   * Fresh queue pairs of a plane: the sender of data offers its queue pairs, and the receiver
   * answers with its own.
   *
   * @param addresses present addresses of the sending end, one for each plane over which a queue
   *     pair sends
   */
  record PlaneUp(String plane, int epoch, List<PlaneAddress> addresses, List<Endpoint> endpoints)
      implements PlaneMessage {
    public PlaneUp {
      addresses = List.copyOf(addresses);
      endpoints = List.copyOf(endpoints);
    }
  }

  /** Address of a plane at one end, of {@link PlaneUp}. */
  record PlaneAddress(Gid gid, PathMtu mtu) {}

  /** From the sender of data: the fresh queue pairs carry traffic, and the plane is in use. */
  record PlaneReady(String plane, int epoch) implements PlaneMessage {}

  /** The sending end drains a plane, or ends the drain. */
  record Drain(String plane, boolean on) implements PlaneMessage {}

  /**
   * The sending end refuses the connection.
   *
   * @param reason for the other end's log
   */
  record Refused(String reason) implements ControlMessage {}

  /**
   * Result of decoding bytes that are no message.
   *
   * @param reason the error
   */
  record Malformed(String reason) implements ControlMessage {}
}

package io.heddle.transport.control;

import io.heddle.addr.PlaneMarks;
import io.heddle.verbs.Gid;
import io.heddle.verbs.PathMtu;
import java.net.InetSocketAddress;
import java.util.List;

/** What the two ends of a connection say to each other. */
public sealed interface ControlMessage {
  /**
   * The first message, both ways.
   *
   * @param version protocol version, {@link ControlCodec#VERSION}
   * @param features bits: {@link #SPANS_ALL_PLANES}, {@link #ANSWER}
   * @param token the listener's secret, 16 bytes
   * @param call which of the caller's connections this is for, on whatever channel it is said; at a
   *     door which of its rounds of calls; 0 from who answers
   */
  record Hello(int version, int features, byte[] token, long call) implements ControlMessage {
    /** Each queue pair goes over all planes: the connecting end wants it, the other one agrees. */
    public static final int SPANS_ALL_PLANES = 1;

    /** It answers a caller's: an end that says what the caller said is no other end. */
    public static final int ANSWER = 2;

    /** Whether that is wanted, or agreed to. */
    public boolean spansAllPlanes() {
      return (features & SPANS_ALL_PLANES) != 0;
    }

    /** Whether the end that accepts said it. */
    public boolean isAnswer() {
      return (features & ANSWER) != 0;
    }
  }

  /**
   * The planes that this end has.
   *
   * @param host who speaks, for the other end's log
   * @param namespace {@link NamespaceId#ID} of who speaks
   * @param queuePairsPerPlane how many it would make on each plane; the smaller number counts
   */
  record PlaneList(String host, long namespace, int queuePairsPerPlane, List<PlaneOffer> planes)
      implements ControlMessage {
    public PlaneList {
      planes = List.copyOf(planes);
    }
  }

  /**
   * One plane of {@link PlaneList}, with all by which it can be known.
   *
   * @param key what its host calls it
   * @param ownKey what its host would call it without a route daemon
   * @param prefixLength bits of the address' on-link prefix
   * @param interfaceName that carries the address there
   */
  record PlaneOffer(
      String key, String ownKey, Gid gid, int prefixLength, String interfaceName, PathMtu mtu) {
    /** By which this end's planes are compared with it. */
    public PlaneMarks marks() {
      return new PlaneMarks(key, ownKey, gid.toAddress(), prefixLength, interfaceName);
    }

    /** The same plane at another address. */
    public PlaneOffer at(PlaneAddress next) {
      return new PlaneOffer(key, ownKey, next.gid(), prefixLength, interfaceName, next.mtu());
    }
  }

  /**
   * The queue pairs that this end made: one for each plane that both have, then perhaps a second
   * one for each, and so on.
   *
   * @param ringAddress where the other end writes clear-to-send entries; 0 from the receiver
   * @param ringKey remote key of that memory
   * @param receiveDepth receives that this end keeps posted on each queue pair
   */
  record Endpoints(long ringAddress, int ringKey, int receiveDepth, List<Endpoint> endpoints)
      implements ControlMessage {
    public Endpoints {
      endpoints = List.copyOf(endpoints);
    }
  }

  /**
   * One queue pair of {@link Endpoints}.
   *
   * @param startPsn first packet sequence number that this end sends
   * @param parameters opaque words of this end's provider for the other's, at most 64 bytes
   */
  record Endpoint(String planeKey, int queuePairNumber, int startPsn, byte[] parameters) {}

  /**
   * Where this end can be called should the control channel be lost. Said again when that changes.
   *
   * @param ticket what a caller has to show, 16 bytes
   */
  public record ReconnectAddresses(byte[] ticket, List<InetSocketAddress> addresses) implements ControlMessage {
    public ReconnectAddresses {
      addresses = List.copyOf(addresses);
    }
  }

  /**
   * A sign of life.
   *
   * @param received how many numbered messages this end has had
   * @param next the number of the one that follows on this channel
   */
  record Ping(long received, long next) implements ControlMessage {}

  /** This end's queue pairs can receive. */
  record Ready() implements ControlMessage {}

  /** This end was closed in good order; nothing more will come. */
  record Closing() implements ControlMessage {}

  /**
   * This end's communicator has failed by itself; nothing more will come of it, and nothing that is
   * sent to it will be taken.
   *
   * @param reason for the other end's log
   */
  record Failed(String reason) implements ControlMessage {}

  /** What is said of one plane once the connection is there. */
  sealed interface PlaneMessage extends ControlMessage {
    /** The plane's key. */
    String plane();
  }

  /**
   * This end noticed a failure of a plane and is fencing it; the other shall, too.
   *
   * @param epoch of the plane
   * @param reason for the other end's log
   */
  record PlaneDown(String plane, int epoch, String reason) implements PlaneMessage {}

  /**
   * This end is fenced: no packet of this plane and epoch has any effect here any more.
   *
   * @param oldest from a receiver, its first group that isn't complete; from a sender 0
   * @param next from a receiver, the group that it opens next; from a sender 0
   * @param arrivals from a receiver, what has arrived of the open groups, over any plane; what
   *     isn't named has nothing
   */
  record Fenced(String plane, int epoch, long oldest, long next, List<Arrival> arrivals)
      implements PlaneMessage {
    public Fenced {
      arrivals = List.copyOf(arrivals);
    }
  }

  /**
   * What has arrived of one receive.
   *
   * @param count chunks that it has
   * @param chunks bit i for chunk i
   */
  record Arrival(int slot, int generation, int receive, int count, long chunks) {}

  /**
   * Fresh queue pairs of a plane: the sender offers, the receiver answers with its own.
   *
   * @param addresses where they are at this end now, one for each plane that a queue pair has
   */
  record PlaneUp(String plane, int epoch, List<PlaneAddress> addresses, List<Endpoint> endpoints)
      implements PlaneMessage {
    public PlaneUp {
      addresses = List.copyOf(addresses);
      endpoints = List.copyOf(endpoints);
    }
  }

  /** Where a plane is at one end, of {@link PlaneUp}. */
  record PlaneAddress(Gid gid, PathMtu mtu) {}

  /** From the sender: the fresh queue pairs carry, the plane is in use. */
  record PlaneReady(String plane, int epoch) implements PlaneMessage {}

  /** This end wants nothing new on a plane, or does again. */
  record Drain(String plane, boolean on) implements PlaneMessage {}

  /**
   * This end gives up.
   *
   * @param reason for the other end's log
   */
  record Refused(String reason) implements ControlMessage {}

  /**
   * Bytes that are no message.
   *
   * @param reason what is wrong with them
   */
  record Malformed(String reason) implements ControlMessage {}
}

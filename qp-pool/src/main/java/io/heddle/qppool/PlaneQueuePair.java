package io.heddle.qppool;

import io.heddle.platform.RandomBytes;
import io.heddle.verbs.CompletionQueue;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.Gid;
import io.heddle.verbs.GidTable;
import io.heddle.verbs.PathMtu;
import io.heddle.verbs.ProtectionDomain;
import io.heddle.verbs.QueuePair;
import io.heddle.verbs.QueuePairAttributes;
import io.heddle.verbs.QueuePairState;
import io.heddle.verbs.ReadyToReceiveAttributes;
import io.heddle.verbs.ReadyToSendAttributes;
import io.heddle.verbs.VerbsException;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Queue pair of one plane: bound to this host's address on the plane, and connected to the peer's
 * address on the same plane. For the control path.
 */
public final class PlaneQueuePair implements AutoCloseable {
  /*
   * 4.096 µs · 2^14 = 67 ms per try, 0.47 s for all tries: a plane without answers fails within a
   * second. By {@link ReadyToSendAttributes#peer}, a device distinguishes a slow peer from a failed
   * path. On devices that ignore it, a peer without a free CPU may look like a path failure. Then
   * the connection fails over, and uses the plane again later.
   */
  static final int DEFAULT_TIMEOUT_CODE = 14;

  /* One less than the maximum, since rxe (Soft-RoCE) retries for ever at 7. */
  private static final int DEFAULT_RETRIES = 6;

  /**
   * Queue pair number that stands for an end without an address on the plane. No connected queue
   * pair has it.
   */
  public static final int NO_ADDRESS = 0;

  private static final int PSN_BITS = 24;

  private final String planeKey;
  private final Gid localGid;
  private final QueuePair queuePair;
  private final int sendDepth;
  private final int receiveDepth;
  private final int startPsn = RandomBytes.nextBits(PSN_BITS);
  private @Nullable Gid remoteGid;
  private int remoteNumber;
  private boolean receivesPosted;
  private long reportedResent;

  private PlaneQueuePair(
      String planeKey, Gid localGid, QueuePair queuePair, int sendDepth, int receiveDepth) {
    this.planeKey = planeKey;
    this.localGid = localGid;
    this.queuePair = queuePair;
    this.sendDepth = sendDepth;
    this.receiveDepth = receiveDepth;
  }

  /**
   * Creates a queue pair and binds it to the address: RESET → INIT. Each call looks the address up
   * in the GID table, since an index is valid only until the next address change.
   *
   * @throws VerbsException if the device no longer has the address, or rejects the call
   */
  public static PlaneQueuePair create(
      String planeKey, Gid localGid, ProtectionDomain pd, CompletionQueue cq, QueueDepths depths) {
    return create(planeKey, List.of(localGid), pd, cq, depths);
  }

  /**
   * Creates a queue pair that uses several addresses at once, one for each of its links; see {@link
   * DeviceContext#maxLinks}. The link of a missing address carries nothing.
   *
   * @param planeKey key that the queue pair uses for all these addresses
   * @throws VerbsException if the device has none of the addresses, or rejects a call
   */
  public static PlaneQueuePair create(
      String planeKey,
      List<Gid> localGids,
      ProtectionDomain pd,
      CompletionQueue cq,
      QueueDepths depths) {
    DeviceContext context = pd.context();
    GidTable table = context.gidTable();
    int[] indexes = localGids.stream().mapToInt(gid -> table.indexOf(gid).orElse(-1)).toArray();
    if (Arrays.stream(indexes).allMatch(index -> index < 0)) {
      throw new VerbsException(
          "query_gid",
          context.device().name()
              + ": address "
              + localGids.stream().map(Gid::toString).collect(Collectors.joining(", "))
              + " of plane "
              + planeKey,
          io.heddle.platform.Errno.EADDRNOTAVAIL);
    }
    QueuePair queuePair = pd.createQueuePair(depths.attributes(cq));
    try {
      queuePair.initialise(indexes);
    } catch (RuntimeException failure) {
      queuePair.close();
      throw failure;
    }
    return new PlaneQueuePair(
        planeKey, localGids.getFirst(), queuePair, depths.sends(), depths.receives());
  }

  /**
   * Creates a queue pair for a plane whose address this host lacks at the moment. It stays in
   * RESET, can move to ERROR, and can't be connected: {@link #connect} throws.
   */
  public static PlaneQueuePair withoutAddress(
      String planeKey, Gid localGid, ProtectionDomain pd, CompletionQueue cq, QueueDepths depths) {
    QueuePair queuePair = pd.createQueuePair(depths.attributes(cq));
    return new PlaneQueuePair(planeKey, localGid, queuePair, depths.sends(), depths.receives());
  }

  /**
   * Capacities of the queues, in work requests.
   *
   * @param sends send requests
   * @param receives receive requests
   * @param inlineBytes largest payload that a send request contains itself, if the device supports
   *     that
   */
  public record QueueDepths(int sends, int receives, int inlineBytes) {
    private QueuePairAttributes attributes(CompletionQueue cq) {
      return new QueuePairAttributes(cq, cq, sends, receives, inlineBytes);
    }
  }

  /**
   * Peer's end of the connection on the same plane.
   *
   * @param startPsn first packet sequence number that the peer sends
   * @param parameters parameters of the peer's provider
   * @param peer number of the peer; see {@link ReadyToSendAttributes#peer}
   */
  public record RemoteEnd(
      Gid gid, int queuePairNumber, int startPsn, byte[] parameters, long peer) {
    /** Creates an end whose connection isn't grouped with others to the same peer. */
    public RemoteEnd(Gid gid, int queuePairNumber, int startPsn, byte[] parameters) {
      this(gid, queuePairNumber, startPsn, parameters, ReadyToSendAttributes.NO_PEER_GROUP);
    }
  }

  /**
   * Timeout, retries and priority of a connection.
   *
   * @param timeoutCode local ACK timeout: 4.096 µs · 2^code
   * @param retryCount number of retries, 0 to 7
   * @param trafficClass traffic class of packets, 0 to 255
   * @param serviceLevel service level, 0 to 15
   */
  public record LinkSettings(int timeoutCode, int retryCount, int trafficClass, int serviceLevel) {
    public static final LinkSettings DEFAULT =
        new LinkSettings(DEFAULT_TIMEOUT_CODE, DEFAULT_RETRIES, 0, 0);
  }

  /**
   * Posts all receives, so that they are there before a packet can arrive, and moves INIT → RTR →
   * RTS. If the device rejects a step, the next call continues with that step.
   *
   * @throws VerbsException if the device rejects a step, or an end has no address on the plane
   */
  public void connect(RemoteEnd remote, PathMtu mtu, LinkSettings settings, long receiveId) {
    remoteGid = remote.gid();
    remoteNumber = remote.queuePairNumber();
    requireAddresses();
    if (!receivesPosted) {
      int posted = queuePair.postEmptyReceives(receiveId, receiveDepth);
      if (posted != 0) {
        throw new VerbsException("post_recv", this + ", " + receiveDepth + " receives", -posted);
      }
      receivesPosted = true;
    }
    if (queuePair.state() == QueuePairState.INIT) {
      readyToReceive(remote, mtu, settings);
    }
    queuePair.readyToSend(
        new ReadyToSendAttributes(
            startPsn, settings.timeoutCode(), settings.retryCount(), 7, remote.peer()));
  }

  private void requireAddresses() {
    boolean here = hasAddress();
    if (!here || remoteNumber == NO_ADDRESS) {
      throw new VerbsException(
          "modify_qp",
          "%s: %s end has no address on the plane".formatted(this, here ? "the other" : "this"),
          io.heddle.platform.Errno.EADDRNOTAVAIL);
    }
  }

  /** Returns whether the queue pair is bound to its address. */
  public boolean hasAddress() {
    return queuePair.state() != QueuePairState.RESET;
  }

  /** Returns whether all receives of the queue pair were posted. */
  public boolean hasReceives() {
    return receivesPosted;
  }

  private void readyToReceive(RemoteEnd remote, PathMtu mtu, LinkSettings settings) {
    /*
     * Timer code 12 is 0.64 ms. With retry count 7 the sender retries without end, so a receiver
     * without a receive request causes a delay, not a failure.
     */
    queuePair.readyToReceive(
        new ReadyToReceiveAttributes(
            mtu,
            remote.gid(),
            remote.queuePairNumber(),
            remote.startPsn(),
            remote.parameters(),
            12,
            settings.trafficClass(),
            settings.serviceLevel()));
  }

  public String planeKey() {
    return planeKey;
  }

  public QueuePair queuePair() {
    return queuePair;
  }

  public int startPsn() {
    return startPsn;
  }

  public int sendDepth() {
    return sendDepth;
  }

  public int receiveDepth() {
    return receiveDepth;
  }

  public Gid localGid() {
    return localGid;
  }

  /** Returns the packets resent since the last call; 0 if the device doesn't report them. */
  public long resentSinceLastCall() {
    long resent = queuePair.resentPackets();
    long fresh = resent - reportedResent;
    reportedResent = resent;
    return fresh;
  }

  @Override
  public void close() {
    queuePair.close();
  }

  /** Returns the plane, both addresses and both queue pair numbers, for a log line. */
  @Override
  public String toString() {
    return "plane %s (%s QP %#x to %s QP %#x)"
        .formatted(
            planeKey,
            localGid,
            queuePair.number(),
            remoteGid == null ? "none" : remoteGid,
            remoteNumber);
  }
}

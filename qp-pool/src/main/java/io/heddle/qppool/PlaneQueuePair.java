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
 * A queue pair pinned to one plane: made on the local address of that plane, connected to the
 * peer's address of the same plane. Control path.
 */
public final class PlaneQueuePair implements AutoCloseable {
  /*
   * 4.096 µs · 2^14 = 67 ms a try, 0.47 s with all tries: a silent plane is left within a second. On a device that
   * judges each queue pair alone a peer that only waits for its core may be taken for gone; that costs a failover, and
   * the plane comes back.
   */
  static final int DEFAULT_TIMEOUT_CODE = 14;

  /* One less than the most: Soft-RoCE takes 7 for ever. */
  private static final int DEFAULT_RETRIES = 6;

  /** What an end without address says as its queue pair's number; no queue pair of a job has it. */
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
  private long toldResent;

  private PlaneQueuePair(
      String planeKey, Gid localGid, QueuePair queuePair, int sendDepth, int receiveDepth) {
    this.planeKey = planeKey;
    this.localGid = localGid;
    this.queuePair = queuePair;
    this.sendDepth = sendDepth;
    this.receiveDepth = receiveDepth;
  }

  /**
   * Makes a queue pair and binds it to the address: RESET → INIT. The address is looked up in the
   * GID table now, since an index is good only until the next address change.
   *
   * @throws VerbsException when the device has the address no more, or refuses
   */
  public static PlaneQueuePair create(
      String planeKey, Gid localGid, ProtectionDomain pd, CompletionQueue cq, QueueDepths depths) {
    return create(planeKey, List.of(localGid), pd, cq, depths);
  }

  /**
   * The same over several addresses at once, on a device that has {@link DeviceContext#mostLinks}.
   * One that isn't there now is a link that carries nothing.
   *
   * @param planeKey what the addresses are called together
   * @throws VerbsException when the device has none of them, or refuses
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
   * One for a plane whose address isn't there now: it can be created and moved to ERROR like any,
   * and {@link #connect} refuses it.
   */
  public static PlaneQueuePair withoutAddress(
      String planeKey, Gid localGid, ProtectionDomain pd, CompletionQueue cq, QueueDepths depths) {
    QueuePair queuePair = pd.createQueuePair(depths.attributes(cq));
    return new PlaneQueuePair(planeKey, localGid, queuePair, depths.sends(), depths.receives());
  }

  /**
   * How many work requests the queues hold.
   *
   * @param sends send requests
   * @param receives receive requests
   * @param inlineBytes payloads of up to so many bytes are to travel within their requests, where
   *     the device has that
   */
  public record QueueDepths(int sends, int receives, int inlineBytes) {
    private QueuePairAttributes attributes(CompletionQueue cq) {
      return new QueuePairAttributes(cq, cq, sends, receives, inlineBytes);
    }
  }

  /**
   * The peer's end of the same plane.
   *
   * @param startPsn first packet sequence number that the peer sends
   * @param parameters the words of the peer's provider
   * @param peer as {@link ReadyToSendAttributes#peer} has it
   */
  public record RemoteEnd(
      Gid gid, int queuePairNumber, int startPsn, byte[] parameters, long peer) {
    /** One that is judged alone. */
    public RemoteEnd(Gid gid, int queuePairNumber, int startPsn, byte[] parameters) {
      this(gid, queuePairNumber, startPsn, parameters, ReadyToSendAttributes.ALONE);
    }
  }

  /**
   * How long and how often to try.
   *
   * @param timeoutCode 4.096 µs · 2^code
   * @param retryCount 0 to 7
   * @param trafficClass 0 to 255
   * @param serviceLevel 0 to 15
   */
  public record LinkSettings(int timeoutCode, int retryCount, int trafficClass, int serviceLevel) {
    public static final LinkSettings DEFAULT =
        new LinkSettings(DEFAULT_TIMEOUT_CODE, DEFAULT_RETRIES, 0, 0);
  }

  /**
   * INIT → RTR → RTS, with all receives posted before a packet can arrive. Where the device refuses
   * a step, it may be called again and goes on there.
   *
   * @throws VerbsException where the device refuses, or either end has no address on the plane
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
          "%s: the address isn't there at %s end".formatted(this, here ? "the other" : "this"),
          io.heddle.platform.Errno.EADDRNOTAVAIL);
    }
  }

  /** Whether it is bound to its address. */
  public boolean hasAddress() {
    return queuePair.state() != QueuePairState.RESET;
  }

  /** Whether receives were posted on it: as many as it holds. */
  public boolean hasReceives() {
    return receivesPosted;
  }

  private void readyToReceive(RemoteEnd remote, PathMtu mtu, LinkSettings settings) {
    /* Timer code 12 is 0.64 ms; retry count 7 tries without end: a full receive queue is a delay, not a failure. */
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

  /** Packets that were sent again since the last call; 0 where the device doesn't tell. */
  public long newlyResent() {
    long resent = queuePair.resentPackets();
    long fresh = resent - toldResent;
    toldResent = resent;
    return fresh;
  }

  @Override
  public void close() {
    queuePair.close();
  }

  /** Plane, both addresses and both queue pair numbers, for a log line. */
  @Override
  public String toString() {
    return "plane %s (%s QP %#x to %s QP %#x)"
        .formatted(
            planeKey,
            localGid,
            queuePair.number(),
            remoteGid == null ? "nobody" : remoteGid,
            remoteNumber);
  }
}

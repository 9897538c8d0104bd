package io.heddle.bridge.status;

import io.heddle.platform.Memory;
import io.heddle.verbs.Gid;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * PGM packets of a group, counted on arrival at the bridge.
 *
 * @param directions direction from fabric a, then from fabric b
 * @param sessions sessions active within 5 minutes, those with the most losses first
 */
public record PgmStatus(List<Direction> directions, List<Session> sessions) {
  private static final double NS_PER_S = 1e9;
  private static final int READS = 100;

  /**
   * PGM counters of one direction.
   *
   * @param packets PGM packets
   * @param malformed packets that are no valid PGM, and were forwarded nevertheless
   * @param data original data packets (ODATA)
   * @param repeats repair packets (RDATA)
   * @param skipped sequence numbers that were missing when a later one arrived
   * @param late skipped numbers that arrived afterwards in an original packet
   * @param repaired skipped numbers that arrived afterwards in a repair packet
   * @param lost skipped numbers that haven't arrived
   * @param duplicates original packets whose number had arrived before
   * @param strays packets whose number is far from the others of its session
   * @param restarts restarts of sources, recognized by their new numbers
   * @param requests repair requests (NAK, NNAK) by receivers in this direction's source fabric
   * @param confirmations confirmed repair requests (NCF)
   * @param parity parity packets, which have no data number
   * @param sessions current number of sessions
   * @param evicted sessions that were evicted from the full table
   * @param aged sessions that were idle for 5 minutes
   */
  public record Direction(
      long packets,
      long malformed,
      long data,
      long repeats,
      long skipped,
      long late,
      long repaired,
      long lost,
      long duplicates,
      long strays,
      long restarts,
      long requests,
      long confirmations,
      long parity,
      long sessions,
      long evicted,
      long aged) {
    static Direction read(long block) {
      long skipped = PgmCounter.SKIPPED.get(block);
      long late = PgmCounter.LATE.get(block);
      long repaired = PgmCounter.REPAIRED.get(block);
      return new Direction(
          PgmCounter.PACKETS.get(block),
          PgmCounter.MALFORMED.get(block),
          PgmCounter.DATA.get(block),
          PgmCounter.REPEATS.get(block),
          skipped,
          late,
          repaired,
          Math.max(0, skipped - late - repaired),
          PgmCounter.DUPLICATES.get(block),
          PgmCounter.STRAYS.get(block),
          PgmCounter.RESTARTS.get(block),
          PgmCounter.REQUESTS.get(block),
          PgmCounter.CONFIRMATIONS.get(block),
          PgmCounter.PARITY.get(block),
          PgmCounter.SESSIONS.get(block),
          PgmCounter.EVICTED.get(block),
          PgmCounter.AGED.get(block));
    }
  }

  /**
   * Transport session of one source.
   *
   * @param session transport session id, such as {@code 3329041eba74.13320}
   * @param from name of the fabric that the data come from
   * @param source source address of the session's last packet
   * @param lead newest data sequence number
   * @param data original data packets
   * @param repeats repair packets
   * @param skipped sequence numbers that were missing when a later one arrived
   * @param late skipped numbers that arrived afterwards in an original packet
   * @param repaired skipped numbers that arrived afterwards in a repair packet
   * @param lost skipped numbers that haven't arrived
   * @param duplicates original packets whose number had arrived before
   * @param strays packets whose number is far from the others
   * @param restarts restarts of the source, recognized by its new numbers
   * @param requests repair requests by receivers in either fabric
   * @param silentSeconds seconds since the source's last packet
   */
  public record Session(
      String session,
      String from,
      String source,
      long lead,
      long data,
      long repeats,
      long skipped,
      long late,
      long repaired,
      long lost,
      long duplicates,
      long strays,
      long restarts,
      long requests,
      double silentSeconds) {}

  static PgmStatus read(long file, long slot, int slotNumber, List<BridgeStatus.Fabric> fabrics) {
    List<Session> sessions = new ArrayList<>();
    long aliveNs = Memory.getLong(file + StatusLayout.ALIVE_NS_AT);
    for (int i = 0; i < PgmSessionRecord.MOST_SESSIONS; i++) {
      long at = file + StatusLayout.PGM_AT + (long) i * PgmSessionRecord.BYTES;
      add(sessions, at, slotNumber, aliveNs, fabrics);
    }
    sessions.sort(
        Comparator.comparingLong(Session::lost).reversed().thenComparing(Session::session));
    return new PgmStatus(
        List.of(
            Direction.read(StatusLayout.block(slot, 0)),
            Direction.read(StatusLayout.block(slot, 1))),
        List.copyOf(sessions));
  }

  /*
   * Reads a record, and adds its session. If the record is reassigned to another session of the
   * group meanwhile, it is read again.
   */
  private static void add(
      List<Session> sessions,
      long at,
      int slotNumber,
      long aliveNs,
      List<BridgeStatus.Fabric> fabrics) {
    for (int i = 0; i < READS; i++) {
      int version = Memory.getIntAcquire(at + PgmSessionRecord.VERSION_AT);
      if (version == 0) {
        return;
      }
      if (Memory.getInt(at + PgmSessionRecord.SLOT_AT) != slotNumber) {
        return;
      }
      Session session = session(at, aliveNs, fabrics);
      VarHandle.loadLoadFence();
      if ((version & 1) == 0 && Memory.getInt(at + PgmSessionRecord.VERSION_AT) == version) {
        sessions.add(session);
        return;
      }
    }
  }

  private static Session session(long at, long aliveNs, List<BridgeStatus.Fabric> fabrics) {
    long skipped = PgmSessionRecord.get(at, PgmCounter.SKIPPED);
    long late = PgmSessionRecord.get(at, PgmCounter.LATE);
    long repaired = PgmSessionRecord.get(at, PgmCounter.REPAIRED);
    long silentNs = aliveNs - Memory.getLong(at + PgmSessionRecord.HEARD_NS_AT);
    Gid source =
        new Gid(
            Memory.getLong(at + PgmSessionRecord.SOURCE_AT),
            Memory.getLong(at + PgmSessionRecord.SOURCE_AT + Long.BYTES));
    return new Session(
        PgmSessionRecord.name(Memory.getLong(at + PgmSessionRecord.SESSION_AT)),
        fabrics.get(Memory.getInt(at + PgmSessionRecord.SIDE_AT) & 1).name(),
        source.toString(),
        Integer.toUnsignedLong(Memory.getInt(at + PgmSessionRecord.LEAD_AT)),
        PgmSessionRecord.get(at, PgmCounter.DATA),
        PgmSessionRecord.get(at, PgmCounter.REPEATS),
        skipped,
        late,
        repaired,
        Math.max(0, skipped - late - repaired),
        PgmSessionRecord.get(at, PgmCounter.DUPLICATES),
        PgmSessionRecord.get(at, PgmCounter.STRAYS),
        PgmSessionRecord.get(at, PgmCounter.RESTARTS),
        PgmSessionRecord.get(at, PgmCounter.REQUESTS),
        Math.max(0, silentNs) / NS_PER_S);
  }
}

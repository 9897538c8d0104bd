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
      long skipped = GroupCounters.get(block, PgmCounters.SKIPPED);
      long late = GroupCounters.get(block, PgmCounters.LATE);
      long repaired = GroupCounters.get(block, PgmCounters.REPAIRED);
      return new Direction(
          GroupCounters.get(block, PgmCounters.PACKETS),
          GroupCounters.get(block, PgmCounters.MALFORMED),
          GroupCounters.get(block, PgmCounters.DATA),
          GroupCounters.get(block, PgmCounters.REPEATS),
          skipped,
          late,
          repaired,
          Math.max(0, skipped - late - repaired),
          GroupCounters.get(block, PgmCounters.DUPLICATES),
          GroupCounters.get(block, PgmCounters.STRAYS),
          GroupCounters.get(block, PgmCounters.RESTARTS),
          GroupCounters.get(block, PgmCounters.REQUESTS),
          GroupCounters.get(block, PgmCounters.CONFIRMATIONS),
          GroupCounters.get(block, PgmCounters.PARITY),
          GroupCounters.get(block, PgmCounters.SESSIONS),
          GroupCounters.get(block, PgmCounters.EVICTED),
          GroupCounters.get(block, PgmCounters.AGED));
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
    for (int i = 0; i < PgmSessionCounters.MOST_SESSIONS; i++) {
      long at = file + StatusLayout.PGM_AT + (long) i * PgmSessionCounters.BYTES;
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
      int version = Memory.getIntAcquire(at + PgmSessionCounters.VERSION_AT);
      if (version == 0) {
        return;
      }
      if (Memory.getInt(at + PgmSessionCounters.SLOT_AT) != slotNumber) {
        return;
      }
      Session session = session(at, aliveNs, fabrics);
      VarHandle.loadLoadFence();
      if ((version & 1) == 0 && Memory.getInt(at + PgmSessionCounters.VERSION_AT) == version) {
        sessions.add(session);
        return;
      }
    }
  }

  private static Session session(long at, long aliveNs, List<BridgeStatus.Fabric> fabrics) {
    long skipped = PgmSessionCounters.get(at, PgmSessionCounters.SKIPPED);
    long late = PgmSessionCounters.get(at, PgmSessionCounters.LATE);
    long repaired = PgmSessionCounters.get(at, PgmSessionCounters.REPAIRED);
    long silentNs = aliveNs - Memory.getLong(at + PgmSessionCounters.HEARD_NS_AT);
    Gid source =
        new Gid(
            Memory.getLong(at + PgmSessionCounters.SOURCE_AT),
            Memory.getLong(at + PgmSessionCounters.SOURCE_AT + Long.BYTES));
    return new Session(
        PgmSessionCounters.name(Memory.getLong(at + PgmSessionCounters.SESSION_AT)),
        fabrics.get(Memory.getInt(at + PgmSessionCounters.SIDE_AT) & 1).name(),
        source.toString(),
        Integer.toUnsignedLong(Memory.getInt(at + PgmSessionCounters.LEAD_AT)),
        PgmSessionCounters.get(at, PgmSessionCounters.DATA),
        PgmSessionCounters.get(at, PgmSessionCounters.REPEATS),
        skipped,
        late,
        repaired,
        Math.max(0, skipped - late - repaired),
        PgmSessionCounters.get(at, PgmSessionCounters.DUPLICATES),
        PgmSessionCounters.get(at, PgmSessionCounters.STRAYS),
        PgmSessionCounters.get(at, PgmSessionCounters.RESTARTS),
        PgmSessionCounters.get(at, PgmSessionCounters.REQUESTS),
        Math.max(0, silentNs) / NS_PER_S);
  }
}

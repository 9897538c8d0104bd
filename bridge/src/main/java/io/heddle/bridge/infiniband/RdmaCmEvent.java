package io.heddle.bridge.infiniband;

import io.heddle.bridge.cm.PrivateBytes;
import io.heddle.bridge.cm.SidrService;
import io.heddle.platform.Memory;
import io.heddle.verbs.Gid;
import java.lang.foreign.ValueLayout;
import java.util.List;

/**
 * Copy of a struct rdma_cm_event (rdma/rdma_cma.h).
 *
 * @param id address of the rdma_cm_id that the event belongs to
 * @param kind enum rdma_cm_event_type, as in {@link RdmaCm}
 * @param status 0, a negated errno value, or the status in a host's answer
 * @param token token of the join that the event answers
 * @param privateData private data of a connection request or an answer; otherwise empty
 * @param number number of the answering queue pair
 * @param key queue key of the answering queue pair
 * @param route route of the group that was joined; meaningless in other events
 */
record RdmaCmEvent(
    long id,
    int kind,
    int status,
    long token,
    List<Byte> privateData,
    int number,
    int key,
    GroupRoute route) {
  private static final int ID_AT = 0;
  private static final int KIND_AT = 16;
  private static final int STATUS_AT = 20;
  /* From here on, the fields are those of the event's struct rdma_ud_param. */
  private static final int PRIVATE_DATA_AT = 24;
  private static final int PRIVATE_BYTES_AT = 32;
  private static final int GROUP_AT = 40;
  private static final int LID_AT = 64;
  private static final int SERVICE_LEVEL_AT = 66;
  private static final int STATIC_RATE_AT = 68;
  private static final int NUMBER_AT = 72;
  private static final int KEY_AT = 76;

  static RdmaCmEvent of(long at) {
    int kind = Memory.getInt(at + KIND_AT);
    boolean hasData = kind == RdmaCm.CONNECT_REQUEST || kind == RdmaCm.ESTABLISHED;
    return new RdmaCmEvent(
        Memory.getLong(at + ID_AT),
        kind,
        Memory.getInt(at + STATUS_AT),
        Memory.getLong(at + PRIVATE_DATA_AT),
        hasData ? privateData(at) : List.of(),
        Memory.getInt(at + NUMBER_AT),
        Memory.getInt(at + KEY_AT),
        new GroupRoute(
            Gid.of(Memory.toArray(at + GROUP_AT, Gid.BYTES)),
            Memory.ALL.get(Memory.NATIVE_SHORT, at + LID_AT) & 0xffff,
            Memory.ALL.get(ValueLayout.JAVA_BYTE, at + SERVICE_LEVEL_AT),
            Memory.ALL.get(ValueLayout.JAVA_BYTE, at + STATIC_RATE_AT)));
  }

  private static List<Byte> privateData(long event) {
    long at = Memory.getLong(event + PRIVATE_DATA_AT);
    int bytes = Memory.ALL.get(ValueLayout.JAVA_BYTE, event + PRIVATE_BYTES_AT) & 0xff;
    return at == 0 ? List.of() : PrivateBytes.read(at, Math.min(bytes, SidrService.MOST_BYTES));
  }
}

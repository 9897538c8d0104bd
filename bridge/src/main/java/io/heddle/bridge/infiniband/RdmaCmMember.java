package io.heddle.bridge.infiniband;

import io.heddle.platform.Errno;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Memory;
import io.heddle.platform.SystemCallException;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * RDMA CM id with its own event channel. It is bound to an address, and joins groups on the port
 * that has this address. Used by the control thread only.
 */
public final class RdmaCmMember implements AutoCloseable {
  private static final int JOIN_ROUNDS = 100;
  private static final long ROUND_NS = 20_000_000;
  private static final long NO_JOIN = -1;
  private static final int NAME_BYTES = 64;
  /* Offset of join attributes in the buffer, after a socket address. */
  private static final int JOIN_AT = 48;
  private static final int BUFFER_BYTES = 64;
  /* RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS. */
  private static final int WITH_FLAGS = 3;
  /* RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER. */
  private static final int SENDS_ONLY = 1;

  private final String device;
  private final Arena arena;
  private final long buffer;
  private final RdmaCmChannel channel;
  private final long id;
  private GroupRoute route = GroupRoute.ofEthernet(new Gid(0, 0));
  private String fault = "";
  /* Token of the last join. The answer to the join and later events of the group contain it. */
  private long token;
  private boolean lost;

  private RdmaCmMember(String device, Arena arena) {
    this.device = device;
    this.arena = arena;
    buffer = Memory.allocate(arena, BUFFER_BYTES, 8);
    channel = new RdmaCmChannel(device, device + " joins groups", arena, RdmaCmChannel.NO_FD);
    long created = channel.tryCreateId();
    if (created < 0) {
      channel.close();
      throw new SystemCallException("rdma_create_id of " + device, (int) -created);
    }
    id = created;
  }

  /**
   * Opens an event channel and an id, and binds the id to an address.
   *
   * @param accepts whether the bound id is the desired one
   * @return null if no RDMA device has the address, or the id isn't accepted
   * @throws HeddleException if the library or its kernel module is missing
   */
  public static @Nullable RdmaCmMember boundTo(
      String device, Gid address, Predicate<RdmaCmMember> accepts) {
    RdmaCmMember member = open(device);
    boolean stays = false;
    try {
      stays = member.bind(address) && accepts.test(member);
      return stays ? member : null;
    } finally {
      if (!stays) {
        member.close();
      }
    }
  }

  private static RdmaCmMember open(String device) {
    Arena arena = Arena.ofShared();
    try {
      return new RdmaCmMember(device, arena);
    } catch (RuntimeException refused) {
      arena.close();
      throw refused;
    }
  }

  /*
   * Returns whether a device has the address. The first word of a struct rdma_cm_id is its device,
   * 0 if no RDMA device has the address.
   */
  private boolean bind(Gid address) {
    RdmaSocketAddress.write(buffer, address, 0);
    int refused = RdmaCm.BIND_ADDR.status(id, buffer);
    if (refused < 0 && refused != -Errno.EADDRNOTAVAIL && refused != -Errno.ENODEV) {
      throw new SystemCallException("rdma_bind_addr of " + device + " to " + address, -refused);
    }
    return Memory.getLong(id) != 0;
  }

  /** Returns whether the bound address belongs to this port. */
  public boolean isOn(String deviceName, int portNumber) {
    long found = Memory.getLong(Memory.getLong(id)) + RdmaCm.DEVICE_NAME;
    byte[] bytes = Memory.toArray(found, NAME_BYTES);
    int length = 0;
    while (length < NAME_BYTES && bytes[length] != 0) {
      length++;
    }
    String name = StandardCharsets.UTF_8.decode(ByteBuffer.wrap(bytes, 0, length)).toString();
    return name.equals(deviceName)
        && Memory.ALL.get(ValueLayout.JAVA_BYTE, id + RdmaCm.ID_PORT) == portNumber;
  }

  /** Returns the partition key of the bound address. */
  public int partitionKey() {
    return Memory.ALL.get(Memory.NETWORK_SHORT, id + RdmaCm.ID_PARTITION_KEY) & 0xffff;
  }

  private long socketAddress(Gid group, boolean isMgid) {
    long at = buffer;
    if (isMgid) {
      RdmaSocketAddress.writeMgid(at, group);
    } else {
      RdmaSocketAddress.write(at, group, 0);
    }
    return at;
  }

  /**
   * Joins a group, and waits for the answer.
   *
   * @param isMgid whether this is the group's MGID instead of its IP address
   * @return 0, or a positive errno value
   */
  public int join(Gid group, boolean isMgid, boolean onlySends) {
    long at = socketAddress(group, isMgid);
    token++;
    int refused = onlySends ? joinSendOnly(at) : RdmaCm.JOIN_MULTICAST.status(id, at, token);
    int outcome = refused < 0 ? -refused : awaitJoin();
    if (refused == 0 && outcome != 0) {
      leave(group, isMgid);
    }
    return outcome;
  }

  private int joinSendOnly(long address) {
    if (!RdmaCm.JOIN_MULTICAST_EX.isPresent()) {
      return -Errno.ENOSYS;
    }
    Memory.setInt(buffer + JOIN_AT, WITH_FLAGS);
    Memory.setInt(buffer + JOIN_AT + 4, SENDS_ONLY);
    Memory.setLong(buffer + JOIN_AT + 8, address);
    return RdmaCm.JOIN_MULTICAST_EX.status(id, buffer + JOIN_AT, token);
  }

  /** Returns the route of the last joined group. */
  public GroupRoute route() {
    return route;
  }

  /*
   * Waits for the answer to a join; returns 0, or a positive errno value. Faults that other events
   * report are recorded for the next check.
   */
  private int awaitJoin() {
    for (int i = 0; i < JOIN_ROUNDS; i++) {
      int kind = takeEvent(ROUND_NS, token);
      if (kind == RdmaCm.MULTICAST_JOIN) {
        return 0;
      }
      if (kind == RdmaCm.MULTICAST_ERROR) {
        return Errno.ENETUNREACH;
      }
    }
    return Errno.ETIMEDOUT;
  }

  /*
   * Handles one event. Returns its kind if it answers this join, 0 for another event, −1 if none
   * arrived.
   */
  private int takeEvent(long waitNs, long awaited) {
    RdmaCmEvent event = channel.next(waitNs);
    if (event == null) {
      return -1;
    }
    boolean isAnswer = event.token() == awaited;
    if (event.kind() == RdmaCm.MULTICAST_JOIN && isAnswer) {
      route = event.route();
    } else if (event.kind() == RdmaCm.MULTICAST_ERROR && !isAnswer) {
      fault = "RDMA CM has lost a group, status " + event.status() + "; it is joined again";
      lost = true;
    } else if (event.kind() == RdmaCm.DEVICE_REMOVAL) {
      fault = device + " was removed";
    } else if (event.kind() == RdmaCm.ADDR_CHANGE) {
      fault = "the address by which RDMA CM joined has changed; restart the bridge";
    }
    return isAnswer ? event.kind() : 0;
  }

  public void leave(Gid group, boolean isMgid) {
    RdmaCm.LEAVE_MULTICAST.status(id, socketAddress(group, isMgid));
  }

  /**
   * Handles the pending events. They don't show which group was lost, so all must be joined again.
   */
  public void check() {
    while (takeEvent(0, NO_JOIN) >= 0) {
      /* takeEvent records the faults. */
    }
  }

  /** Returns whether a group was lost since the last call of {@link #rejoined}. */
  public boolean isLost() {
    return lost;
  }

  public void rejoined() {
    lost = false;
    fault = "";
  }

  /** Returns the fault in words; empty for none. */
  public String fault() {
    return fault;
  }

  public void setFault(String words) {
    fault = words;
  }

  @Override
  public void close() {
    RdmaCm.DESTROY_ID.status(id);
    channel.close();
    arena.close();
  }
}

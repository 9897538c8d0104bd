package io.heddle.bridge.fabric;

import io.heddle.platform.DatagramCalls;
import io.heddle.platform.Errno;
import io.heddle.platform.HeddleException;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.Memory;
import io.heddle.platform.SystemCallException;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * An id of RDMA CM's with a channel of its own: it is bound to an address, and joins groups there.
 * The control thread's.
 */
final class RdmaCmMember implements AutoCloseable {
  private static final int JOIN_ROUNDS = 100;
  private static final long ROUND_NS = 20_000_000;
  private static final long NO_JOIN = -1;
  private static final int NAME_BYTES = 64;
  /* Of the room below: an event's address, a socket address, a pollfd, a timespec, what is wanted. */
  private static final int ADDRESS_AT = 8;
  private static final int POLL_AT = 56;
  private static final int TIME_AT = 64;
  private static final int WANTED_AT = 80;
  private static final int ROOM_BYTES = 96;
  /* RDMA_CM_JOIN_MC_ATTR_ADDRESS and _JOIN_FLAGS, and RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER. */
  private static final int WITH_FLAGS = 3;
  private static final int SENDS_ONLY = 1;

  private final String device;
  private final Arena arena = Arena.ofShared();
  private final long room = Memory.allocate(arena, ROOM_BYTES, 8);
  private final long channel;
  private long id;
  private GroupRoute route = GroupRoute.ofEthernet(new Gid(0, 0));
  private String fault = "";
  /* Of the last join: the events that are its answer, or tell of its group later, have it. */
  private long token;
  private boolean lost;

  private RdmaCmMember(String device, long channel) {
    this.device = device;
    this.channel = channel;
    Memory.setInt(room + POLL_AT, Memory.getInt(channel));
    Memory.ALL.set(Memory.NATIVE_SHORT, room + POLL_AT + 4, (short) 1);
    Memory.setLong(room + TIME_AT, 0);
  }

  /**
   * @throws HeddleException where the library or the kernel's part of it is missing
   */
  static RdmaCmMember open(String device) {
    if (!RdmaCm.libraryIsPresent()) {
      throw new HeddleException(
          RdmaCm.LIBRARY + " can't be opened, by which " + device + " joins groups; install it");
    }
    long channel = RdmaCm.CREATE_EVENT_CHANNEL.pointer();
    if (channel < 0) {
      throw new SystemCallException("rdma_create_event_channel for " + device, (int) -channel);
    }
    RdmaCmMember member = new RdmaCmMember(device, channel);
    try {
      RdmaCm.CREATE_ID.call(device, channel, member.room, 0, RdmaCm.DATAGRAMS);
    } catch (RuntimeException refused) {
      member.close();
      throw refused;
    }
    member.id = Memory.getLong(member.room);
    return member;
  }

  /**
   * Binds to an address. The first word of a struct rdma_cm_id is its device, 0 where no RDMA
   * device has the address.
   *
   * @return whether one has it
   */
  boolean bind(Gid address) {
    RdmaSocketAddress.write(room + ADDRESS_AT, address, 0);
    int refused = RdmaCm.BIND_ADDR.status(id, room + ADDRESS_AT);
    if (refused < 0 && refused != -Errno.EADDRNOTAVAIL && refused != -Errno.ENODEV) {
      throw new SystemCallException("rdma_bind_addr of " + device + " to " + address, -refused);
    }
    return Memory.getLong(id) != 0;
  }

  /** Whether the address that it is bound to is this port's. */
  boolean isOn(String deviceName, int portNumber) {
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

  /** Of the partition that the bound address is in. */
  int partitionKey() {
    return Memory.ALL.get(Memory.NETWORK_SHORT, id + RdmaCm.ID_PARTITION_KEY) & 0xffff;
  }

  private long socketAddress(Gid group, boolean isMgid) {
    long at = room + ADDRESS_AT;
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
   * @param isMgid whether this is the group's MGID, and not its IP address
   * @return 0, or an errno value
   */
  int join(Gid group, boolean isMgid, boolean onlySends) {
    long at = socketAddress(group, isMgid);
    token++;
    int refused = onlySends ? askToSend(at) : RdmaCm.JOIN_MULTICAST.status(id, at, token);
    int outcome = refused < 0 ? -refused : awaitJoin();
    if (refused == 0 && outcome != 0) {
      leave(group, isMgid);
    }
    return outcome;
  }

  private int askToSend(long address) {
    if (!RdmaCm.JOIN_MULTICAST_EX.isPresent()) {
      return -Errno.ENOSYS;
    }
    Memory.setInt(room + WANTED_AT, WITH_FLAGS);
    Memory.setInt(room + WANTED_AT + 4, SENDS_ONLY);
    Memory.setLong(room + WANTED_AT + 8, address);
    return RdmaCm.JOIN_MULTICAST_EX.status(id, room + WANTED_AT, token);
  }

  /** Where the packets of the group go that was joined last. */
  GroupRoute route() {
    return route;
  }

  /* 0, or an errno value. What else is told meanwhile is kept for the next look. */
  private int awaitJoin() {
    for (int i = 0; i < JOIN_ROUNDS; i++) {
      int kind = take(true, token);
      if (kind == RdmaCm.MULTICAST_JOIN) {
        return 0;
      }
      if (kind == RdmaCm.MULTICAST_ERROR) {
        return Errno.ENETUNREACH;
      }
    }
    return Errno.ETIMEDOUT;
  }

  /* Takes one event: its kind if it is the answer to this join, 0 for another, −1 where none came. */
  private int take(boolean waits, long awaited) {
    Memory.setLong(room + TIME_AT + 8, waits ? ROUND_NS : 0);
    if (DatagramCalls.poll(LinuxCalls.errnoCapture(), room + POLL_AT, 1, room + TIME_AT) <= 0
        || RdmaCm.GET_CM_EVENT.status(channel, room) < 0) {
      return -1;
    }
    long event = Memory.getLong(room);
    int kind = Memory.getInt(event + RdmaCm.EVENT_KIND);
    int status = Memory.getInt(event + RdmaCm.EVENT_STATUS);
    boolean isAnswer = Memory.getLong(event + RdmaCm.EVENT_PRIVATE_DATA) == awaited;
    if (kind == RdmaCm.MULTICAST_JOIN && isAnswer) {
      route =
          new GroupRoute(
              Gid.of(Memory.toArray(event + RdmaCm.EVENT_GROUP, Gid.BYTES)),
              Memory.ALL.get(Memory.NATIVE_SHORT, event + RdmaCm.EVENT_LID) & 0xffff,
              Memory.ALL.get(ValueLayout.JAVA_BYTE, event + RdmaCm.EVENT_SERVICE_LEVEL),
              Memory.ALL.get(ValueLayout.JAVA_BYTE, event + RdmaCm.EVENT_STATIC_RATE));
    } else if (kind == RdmaCm.MULTICAST_ERROR && !isAnswer) {
      fault = "RDMA CM has lost a group, status " + status + "; it is joined again";
      lost = true;
    } else if (kind == RdmaCm.DEVICE_REMOVAL) {
      fault = device + " was removed";
    } else if (kind == RdmaCm.ADDR_CHANGE) {
      fault = "the address by which RDMA CM joined has changed; restart the bridge";
    }
    RdmaCm.ACK_CM_EVENT.status(event);
    return isAnswer ? kind : 0;
  }

  void leave(Gid group, boolean isMgid) {
    RdmaCm.LEAVE_MULTICAST.status(id, socketAddress(group, isMgid));
  }

  /**
   * Takes what was told meanwhile. Which group was lost isn't told in a way that outlives an id.
   */
  void look() {
    while (take(false, NO_JOIN) >= 0) {
      /* Each is kept as the fault that it tells of. */
    }
  }

  /** Whether a group was lost since {@link #joinedAgain}. */
  boolean isLost() {
    return lost;
  }

  void joinedAgain() {
    lost = false;
    fault = "";
  }

  /** What is wrong, in words; empty for nothing. */
  String fault() {
    return fault;
  }

  void tell(String words) {
    fault = words;
  }

  @Override
  public void close() {
    if (id != 0) {
      RdmaCm.DESTROY_ID.status(id);
    }
    RdmaCm.DESTROY_EVENT_CHANNEL.status(channel);
    arena.close();
  }
}

package io.heddle.systemtests.bridge;

import io.heddle.platform.LeakLedger;
import io.heddle.platform.Log;
import io.heddle.platform.Memory;
import io.heddle.verbs.AddressHandle;
import io.heddle.verbs.AddressHandleAttributes;
import io.heddle.verbs.CompletionQueue;
import io.heddle.verbs.DatagramQueuePair;
import io.heddle.verbs.DatagramWorkRequest;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.Gid;
import io.heddle.verbs.GidTable;
import io.heddle.verbs.MemoryRegion;
import io.heddle.verbs.ProtectionDomain;
import io.heddle.verbs.QueuePairAttributes;
import io.heddle.verbs.RdmaDevice;
import io.heddle.verbs.VerbsProvider;
import io.heddle.verbs.WorkCompletion;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.NetworkInterface;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;

/** Port of a host with a datagram queue pair of a libibverbs device. */
final class VerbsGroupPort implements GroupPort {
  private static final int SLOTS = 512;
  private static final int SLOT_BYTES = 8192;
  private static final int SENDS = 64;
  private static final long SEND_LIMIT_NS = 20_000_000_000L;

  private final DeviceContext context;
  private final DatagramQueuePair queuePair;
  private final CompletionQueue received;
  private final CompletionQueue sent;
  private final MemoryRegion region;
  private final List<AddressHandle> groups = new ArrayList<>();
  /* UDP sockets that join the groups, since rxe doesn't do so itself up to Linux 6.7. */
  private final List<DatagramChannel> members = new ArrayList<>();
  private final WorkCompletion[] completions = WorkCompletion.batch(SENDS);
  private int pendingSends;
  private int next;

  /** Opens a port that sends with the hop limit of hosts: 0 on InfiniBand, else 1. */
  VerbsGroupPort(String device, Gid own, List<GroupName> groups) throws IOException {
    this(device, own, groups, groups.getFirst().lid() == 0 ? 1 : 0);
  }

  VerbsGroupPort(String device, Gid own, List<GroupName> groups, int hops) throws IOException {
    context = open(device);
    ProtectionDomain domain = context.allocateProtectionDomain();
    received = context.createCompletionQueue(SLOTS);
    sent = context.createCompletionQueue(SENDS);
    queuePair =
        domain.createDatagramQueuePair(new QueuePairAttributes(sent, received, SENDS, SLOTS));
    long bytes = (long) (SLOTS + SENDS) * SLOT_BYTES;
    region =
        domain.registerMemory(
            Memory.allocate(Arena.global(), bytes, 4096),
            bytes,
            EnumSet.of(ProtectionDomain.Access.LOCAL_WRITE));
    queuePair.start(QUEUE_KEY);
    for (int slot = 0; slot < SLOTS; slot++) {
      post(slot);
    }
    for (GroupName each : groups) {
      join(own, each.address());
      queuePair.attachMulticast(each.address(), each.lid());
      this.groups.add(
          domain.createAddressHandle(
              new AddressHandleAttributes(own, each.address(), 0, 0, hops, each.lid(), true, 0)));
    }
  }

  private static DeviceContext open(String name) {
    for (VerbsProvider provider : ServiceLoader.load(VerbsProvider.class)) {
      if (provider.name().equals("libibverbs")) {
        for (RdmaDevice device :
            provider.devices(Map.of(), Log.toStandardError(), new LeakLedger())) {
          if (device.name().equals(name)) {
            return device.open();
          }
        }
      }
    }
    throw new IllegalArgumentException("no device " + name);
  }

  private void join(Gid own, Gid group) throws IOException {
    for (GidTable.Entry entry : context.gidTable().entries()) {
      if (entry.gid().equals(own)) {
        NetworkInterface netdev = NetworkInterface.getByIndex(entry.interfaceIndex());
        if (netdev != null) {
          DatagramChannel member =
              DatagramChannel.open(
                  group.isIpv4Mapped()
                      ? StandardProtocolFamily.INET
                      : StandardProtocolFamily.INET6);
          members.add(member);
          member.join(group.toAddress(), netdev);
        }
        return;
      }
    }
    throw new IllegalArgumentException("the device has no address " + own);
  }

  private long slot(int slot) {
    return region.address() + (long) slot * SLOT_BYTES;
  }

  private void post(int slot) {
    if (queuePair.postReceive(slot, slot(slot), SLOT_BYTES, region.lkey()) != 0) {
      throw new IllegalStateException("a receive is refused");
    }
  }

  @Override
  public int mostBytes() {
    return context.port().activeMtu().bytes();
  }

  @Override
  public void send(int group, ByteBuffer payload, boolean hasImmediate, int immediate) {
    long start = System.nanoTime();
    while (pendingSends == SENDS) {
      reap();
      if (System.nanoTime() - start > SEND_LIMIT_NS) {
        throw new IllegalStateException("the device doesn't send");
      }
    }
    long at = slot(SLOTS + next);
    next = (next + 1) % SENDS;
    int length = payload.remaining();
    MemorySegment.copy(MemorySegment.ofBuffer(payload), 0, Memory.ALL, at, length);
    DatagramWorkRequest request = new DatagramWorkRequest();
    request.signalled = true;
    request.localAddress = at;
    request.lengthBytes = length;
    request.lkey = region.lkey();
    request.destination = groups.get(group);
    request.remoteQueuePairNumber = DatagramQueuePair.MULTICAST_NUMBER;
    request.remoteQueueKey = QUEUE_KEY;
    request.hasImmediate = hasImmediate;
    request.immediate = immediate;
    if (queuePair.postSend(request) != 1) {
      throw new IllegalStateException("a send is refused");
    }
    pendingSends++;
  }

  private void reap() {
    int count = sent.poll(completions);
    for (int i = 0; i < count; i++) {
      require(completions[i]);
    }
    pendingSends -= count;
  }

  private static void require(WorkCompletion completion) {
    if (completion.status != WorkCompletion.Status.SUCCESS) {
      throw new IllegalStateException("a request ended with " + completion.status);
    }
  }

  @Override
  public void poll(Heard heard) {
    reap();
    int count = received.poll(completions);
    for (int i = 0; i < count; i++) {
      WorkCompletion completion = completions[i];
      require(completion);
      int slot = (int) completion.workRequestId;
      int length = completion.lengthBytes - DatagramQueuePair.HEADER_BYTES;
      long at = slot(slot) + DatagramQueuePair.HEADER_BYTES;
      heard.datagram(
          Memory.ALL.asSlice(at, length).asByteBuffer(),
          completion.hasImmediate,
          completion.immediate);
      post(slot);
    }
  }

  @Override
  public void close() throws IOException {
    for (DatagramChannel each : members) {
      each.close();
    }
    context.close();
  }
}

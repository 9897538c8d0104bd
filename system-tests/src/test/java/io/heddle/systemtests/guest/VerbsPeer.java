package io.heddle.systemtests.guest;

import io.heddle.platform.LeakLedger;
import io.heddle.platform.Log;
import io.heddle.platform.Memory;
import io.heddle.verbs.CompletionQueue;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.Gid;
import io.heddle.verbs.GidTable;
import io.heddle.verbs.MemoryRegion;
import io.heddle.verbs.PathMtu;
import io.heddle.verbs.ProtectionDomain;
import io.heddle.verbs.ProtectionDomain.Access;
import io.heddle.verbs.QueuePair;
import io.heddle.verbs.QueuePairAttributes;
import io.heddle.verbs.RdmaDevice;
import io.heddle.verbs.ReadyToReceiveAttributes;
import io.heddle.verbs.ReadyToSendAttributes;
import io.heddle.verbs.SendWorkRequest;
import io.heddle.verbs.SendWorkRequest.Operation;
import io.heddle.verbs.VerbsProvider;
import io.heddle.verbs.WorkCompletion;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.EnumSet;
import java.util.ServiceLoader;

/**
 * Program that is one end of a reliable connection. Both ends exchange every operation in lengths
 * around the limits of packets: {@code VerbsPeer PROVIDER DEVICE ADDRESS PORT [HOST]}. Without
 * HOST, the program waits for the other end. The receiving end checks each byte.
 */
final class VerbsPeer implements AutoCloseable {
  private static final int[] LENGTHS = {1, 3, 1024, 4095, 4096, 4097, 65_537, 300_001};
  private static final int BUFFER_BYTES = 1 << 19;
  /*
   * First packet sequence number of both ends. It is so near the largest one (24 bits) that numbers
   * wrap.
   */
  private static final int FIRST_PSN = 0xfffff8;
  private static final int TIMEOUT_CODE = 17;
  private static final long DEADLINE_NS = 30_000_000_000L;

  private final DataInputStream in;
  private final DataOutputStream out;
  private final DeviceContext context;
  private final CompletionQueue cq;
  private final QueuePair qp;
  private final MemoryRegion mr;
  private final WorkCompletion[] one = WorkCompletion.batch(1);
  private long remoteAddress;
  private int remoteKey;
  private int checked;

  private VerbsPeer(Socket socket, DeviceContext context) throws IOException {
    in = new DataInputStream(socket.getInputStream());
    out = new DataOutputStream(socket.getOutputStream());
    this.context = context;
    ProtectionDomain pd = context.allocateProtectionDomain();
    cq = context.createCompletionQueue(64);
    qp = pd.createQueuePair(new QueuePairAttributes(cq, cq, 16, 16));
    mr =
        pd.registerMemory(
            Memory.allocate(Arena.global(), BUFFER_BYTES, 4096),
            BUFFER_BYTES,
            EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.REMOTE_READ));
  }

  public static void main(String[] arguments) throws Exception {
    DeviceContext context = open(arguments[0], arguments[1]);
    boolean first = arguments.length > 4;
    try (Socket socket =
            first ? connect(arguments[4], arguments[3]) : accept(Integer.parseInt(arguments[3]));
        VerbsPeer peer = new VerbsPeer(socket, context)) {
      socket.setTcpNoDelay(true);
      peer.exchangeEndpoints(Gid.of(InetAddress.getByName(arguments[2])));
      for (Operation operation : Operation.values()) {
        for (int length : LENGTHS) {
          peer.exchange(operation, length, first);
          peer.exchange(operation, length, !first);
        }
      }
      System.out.println("all right: " + peer.checked + " messages checked");
    }
  }

  private static DeviceContext open(String providerName, String deviceName) {
    for (VerbsProvider provider : ServiceLoader.load(VerbsProvider.class)) {
      if (provider.name().equals(providerName)) {
        for (RdmaDevice device :
            provider.devices(System.getenv(), Log.toStandardError(), new LeakLedger())) {
          if (device.name().equals(deviceName)) {
            return device.open();
          }
        }
      }
    }
    throw new IllegalArgumentException("no device " + deviceName + " of " + providerName);
  }

  private static Socket connect(String host, String port) throws IOException {
    return new Socket(host, Integer.parseInt(port));
  }

  private static Socket accept(int port) throws IOException {
    try (ServerSocket listening = new ServerSocket(port)) {
      System.out.println("waiting");
      return listening.accept();
    }
  }

  private void exchangeEndpoints(Gid own) throws IOException {
    PathMtu mtu = context.port().activeMtu();
    out.write(own.toBytes());
    out.writeInt(mtu.code());
    out.writeInt(qp.number());
    out.writeInt(mr.rkey());
    out.writeLong(mr.address());
    byte[] gid = in.readNBytes(Gid.BYTES);
    PathMtu least = mtu.min(PathMtu.fromCode(in.readInt()));
    int number = in.readInt();
    remoteKey = in.readInt();
    remoteAddress = in.readLong();
    GidTable gids = context.gidTable();
    qp.initialise(gids.indexOf(own).orElseThrow());
    qp.readyToReceive(
        new ReadyToReceiveAttributes(least, Gid.of(gid), number, FIRST_PSN, new byte[0], 12, 0, 0));
    qp.readyToSend(new ReadyToSendAttributes(FIRST_PSN, TIMEOUT_CODE, 6, 7));
    barrier();
  }

  private void barrier() throws IOException {
    out.writeInt(checked);
    int theirs = in.readInt();
    if (theirs != checked) {
      throw new IllegalStateException("this end is at " + checked + ", the other at " + theirs);
    }
  }

  /*
   * Runs one operation; both ends call this method. The acting end posts it. The other end checks
   * its buffer, or provides the bytes for a read.
   */
  private void exchange(Operation operation, int length, boolean acting) throws IOException {
    int seed = ++checked;
    String what = operation + " of " + length + " B, message " + seed;
    boolean read = operation == Operation.RDMA_READ;
    boolean source = acting != read;
    fill(length, source ? seed : ~seed);
    if (!acting) {
      prepare(operation, length, what);
    }
    barrier();
    if (acting) {
      act(operation, length, seed, what);
    }
    barrier();
    if (!acting) {
      arrived(operation, length, seed, what);
    }
    if (!source) {
      check(length, seed, what);
    }
    barrier();
  }

  private void prepare(Operation operation, int length, String what) {
    int outcome =
        switch (operation) {
          case SEND, SEND_WITH_IMMEDIATE -> qp.postReceive(7, mr.address(), length, mr.lkey());
          case RDMA_WRITE_WITH_IMMEDIATE -> qp.postEmptyReceives(7, 1);
          case RDMA_WRITE, RDMA_READ -> 0;
        };
    if (outcome != 0) {
      throw new IllegalStateException(what + ": a receive is refused with " + outcome);
    }
  }

  private void act(Operation operation, int length, int seed, String what) {
    SendWorkRequest wr = new SendWorkRequest();
    wr.id = seed;
    wr.operation = operation;
    wr.signalled = true;
    wr.localAddress = mr.address();
    wr.lengthBytes = length;
    wr.lkey = mr.lkey();
    wr.remoteAddress = remoteAddress;
    wr.rkey = remoteKey;
    wr.immediate = immediate(seed);
    if (qp.postSend(wr) != 1) {
      throw new IllegalStateException(what + " is refused");
    }
    WorkCompletion wc = awaitCompletion(what);
    if (wc.workRequestId != seed) {
      throw new IllegalStateException(what + ": completion of " + wc.workRequestId);
    }
  }

  private void arrived(Operation operation, int length, int seed, String what) {
    boolean immediate =
        switch (operation) {
          case SEND_WITH_IMMEDIATE, RDMA_WRITE_WITH_IMMEDIATE -> true;
          case SEND, RDMA_WRITE, RDMA_READ -> false;
        };
    if (!immediate && operation != Operation.SEND) {
      return;
    }
    WorkCompletion wc = awaitCompletion(what);
    if (wc.lengthBytes != length
        || wc.hasImmediate != immediate
        || immediate && wc.immediate != immediate(seed)) {
      throw new IllegalStateException(
          "%s: %s B came, immediate %b %08x"
              .formatted(what, wc.lengthBytes, wc.hasImmediate, wc.immediate));
    }
  }

  private static int immediate(int seed) {
    return seed * 0x9e3779b1;
  }

  private WorkCompletion awaitCompletion(String what) {
    long start = System.nanoTime();
    while (System.nanoTime() - start < DEADLINE_NS) {
      context.progress();
      if (cq.poll(one) == 1) {
        if (one[0].status != WorkCompletion.Status.SUCCESS) {
          throw new IllegalStateException(what + ": " + one[0].status);
        }
        return one[0];
      }
    }
    throw new IllegalStateException(what + ": no completion within 30 s");
  }

  private static byte pattern(int position, int seed) {
    int mixed = (position + 1) * 0x9e3779b1 ^ seed * 0x85ebca6b;
    return (byte) (mixed >>> 24 ^ mixed >>> 8);
  }

  private void fill(int length, int seed) {
    for (int i = 0; i < length; i++) {
      Memory.ALL.set(ValueLayout.JAVA_BYTE, mr.address() + i, pattern(i, seed));
    }
  }

  private void check(int length, int seed, String what) {
    for (int i = 0; i < length; i++) {
      byte found = Memory.ALL.get(ValueLayout.JAVA_BYTE, mr.address() + i);
      if (found != pattern(i, seed)) {
        throw new IllegalStateException(
            "%s: byte %s is %02x, not %02x".formatted(what, i, found, pattern(i, seed)));
      }
    }
  }

  @Override
  public void close() {
    context.close();
  }
}

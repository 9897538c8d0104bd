package io.heddle.perf;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.heddle.platform.Memory;
import io.heddle.transport.Transport;
import io.heddle.transport.connection.ListenComm;
import io.heddle.transport.data.RecvComm;
import io.heddle.transport.data.SendComm;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Connection between two transports of this process, over the soft device on loopback addresses.
 * One thread drives both ends, in place of the threads of two ranks.
 */
final class HeddleLink implements AutoCloseable {
  static final HeddleLink NONE = new HeddleLink(List.of(), null, null, 1);

  private static final int HANDLE_BYTES = 128;
  private static final int HOST_MEMORY = 1;
  private static final int TAG = 1;
  private static final int PENDING = 0;
  private static final int DONE = 1;
  private static final int RELEASED = 2;
  private static final long CONNECT_NS = 10_000_000_000L;

  private final List<AutoCloseable> open;
  private final @Nullable SendComm sender;
  private final @Nullable RecvComm receiver;
  private final int bytes;
  private final Arena arena = Arena.ofShared();
  private final long from;
  private final long arrays;
  private final long fromHandle;

  private HeddleLink(
      List<AutoCloseable> open, @Nullable SendComm sender, @Nullable RecvComm receiver, int bytes) {
    this.open = open;
    this.sender = sender;
    this.receiver = receiver;
    this.bytes = bytes;
    from = Memory.allocate(arena, bytes, 4096);
    long to = Memory.allocate(arena, bytes, 4096);
    arrays = Memory.allocate(arena, 32, 8);
    Memory.ALL.set(Memory.NATIVE_LONG, arrays, to);
    Memory.ALL.set(Memory.NATIVE_LONG, arrays + 8, bytes);
    Memory.ALL.set(JAVA_INT, arrays + 16, TAG);
    fromHandle = sender == null ? 0 : sender.registerMemory(from, bytes, HOST_MEMORY);
    Memory.ALL.set(
        Memory.NATIVE_LONG,
        arrays + 24,
        receiver == null ? 0 : receiver.registerMemory(to, bytes, HOST_MEMORY));
  }

  static HeddleLink connect(int bytes) {
    List<AutoCloseable> open = new ArrayList<>();
    Transport left = open("127.0.91.1", open);
    Transport right = open("127.0.92.1", open);
    try (Arena arena = Arena.ofConfined()) {
      long handle = Memory.allocate(arena, HANDLE_BYTES, 8);
      ListenComm listener = right.listen(0, handle);
      open.add(listener);
      SendComm sender = null;
      RecvComm receiver = null;
      long start = System.nanoTime();
      while (sender == null || receiver == null) {
        sender = sender == null ? left.connect(0, -1, handle) : sender;
        receiver = receiver == null ? right.accept(listener) : receiver;
        if (System.nanoTime() - start > CONNECT_NS) {
          throw new IllegalStateException("no connection within 10 s");
        }
      }
      open.add(sender);
      open.add(receiver);
      return new HeddleLink(open, sender, receiver, bytes);
    }
  }

  /*
   * Each end has its own folder. The statistics file is named after the process, so in one folder
   * both ends would write to the same file.
   */
  private static Transport open(String address, List<AutoCloseable> open) {
    Path folder = temporaryFolder();
    open.add(() -> delete(folder));
    Map<String, String> environment = new HashMap<>();
    environment.put("HEDDLE_PROVIDER", "soft");
    environment.put("HEDDLE_PLANES", address + "=1");
    environment.put("NCCL_SOCKET_IFNAME", "lo");
    environment.put("HEDDLE_STATS_DIR", folder.toString());
    Transport transport = Transport.open(environment, (level, sentence) -> {});
    open.add(transport);
    return transport;
  }

  private static Path temporaryFolder() {
    try {
      return Files.createTempDirectory("heddle-link");
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static void delete(Path folder) throws IOException {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
      for (Path file : files) {
        Files.delete(file);
      }
    }
    Files.delete(folder);
  }

  /** Sends one message and polls until both ends report it done. */
  void exchange() {
    if (sender == null || receiver == null) {
      throw new IllegalStateException("not connected");
    }
    long receive = 0;
    while (receive == 0) {
      receive = receiver.irecv(1, arrays, arrays + 8, arrays + 16, arrays + 24);
    }
    long send = 0;
    while (send == 0) {
      receiver.progress();
      send = sender.isend(from, bytes, TAG, fromHandle);
    }
    if (receive <= 0 || send <= 0) {
      throw new IllegalStateException("irecv said " + receive + ", isend " + send);
    }
    while (Memory.getIntAcquire(receive) == PENDING || Memory.getIntAcquire(send) == PENDING) {
      sender.progress();
      receiver.progress();
    }
    if (Memory.getIntAcquire(receive) != DONE || Memory.getIntAcquire(send) != DONE) {
      throw new IllegalStateException("the message failed");
    }
    Memory.setIntRelease(receive, RELEASED);
    Memory.setIntRelease(send, RELEASED);
  }

  @Override
  public void close() {
    for (int i = open.size() - 1; i >= 0; i--) {
      try {
        open.get(i).close();
      } catch (Exception failure) {
        throw new IllegalStateException("closing " + open.get(i), failure);
      }
    }
    arena.close();
  }
}

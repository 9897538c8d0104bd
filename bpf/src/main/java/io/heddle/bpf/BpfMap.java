package io.heddle.bpf;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.heddle.platform.Errno;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.SystemCallException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;

/**
 * Handle of a BPF map in the kernel (bpf(2)). The handle owns a file descriptor of the map. Keys
 * and values are the bytes of the C structs, in the machine's byte order. Any thread may call its
 * methods.
 *
 * <p>A value of a per-processor map has one slot per processor. A slot's size is a multiple of 8
 * bytes.
 */
public final class BpfMap implements AutoCloseable {
  private static final int TYPE_PERCPU_HASH = 5;
  private static final int TYPE_PERCPU_ARRAY = 6;
  private static final int BATCH = 4096;

  private final int fd;
  private final String name;
  private final int type;
  private final int keyBytes;
  private final int valueBytes;
  private final int maxEntries;

  private BpfMap(int fd, String name, int type, int keyBytes, int valueBytes, int maxEntries) {
    this.fd = fd;
    this.name = name;
    this.type = type;
    this.keyBytes = keyBytes;
    this.valueBytes = valueBytes;
    this.maxEntries = maxEntries;
  }

  /** Returns the map of a file descriptor, and takes ownership of the descriptor. */
  static BpfMap of(int fd) {
    try (Arena arena = Arena.ofConfined()) {
      /* struct bpf_map_info: type, id, key_size, value_size, max_entries, map_flags, name[16] */
      MemorySegment info = arena.allocate(80, 8);
      BpfObjectDescription.read("map", fd, info);
      return new BpfMap(
          fd,
          info.getString(24),
          info.get(JAVA_INT, 0),
          info.get(JAVA_INT, 8),
          info.get(JAVA_INT, 12),
          info.get(JAVA_INT, 16));
    }
  }

  /**
   * Returns the map's name in the kernel: the first fifteen characters of its name in the C source.
   */
  public String name() {
    return name;
  }

  public int keyBytes() {
    return keyBytes;
  }

  /**
   * Returns the size of a value as in the C source. A per-processor map has such a value for each
   * processor.
   */
  public int valueBytes() {
    return valueBytes;
  }

  public int maxEntries() {
    return maxEntries;
  }

  /* Returns the number of bytes that a read of one value fills. */
  private int slotBytes() {
    boolean perProcessor = type == TYPE_PERCPU_ARRAY || type == TYPE_PERCPU_HASH;
    return perProcessor ? ((valueBytes + 7) & ~7) * Processors.possible() : valueBytes;
  }

  private SystemCallException failure(String what, int result) {
    return new SystemCallException(what + " of the map " + name, -result);
  }

  private MemorySegment key(Arena arena, byte[] key) {
    if (key.length != keyBytes) {
      throw new IllegalArgumentException(
          "a key of " + key.length + " bytes for the map " + name + " of " + keyBytes);
    }
    return copy(arena, key);
  }

  private static MemorySegment copy(Arena arena, byte[] bytes) {
    MemorySegment memory = arena.allocate(bytes.length, 8);
    MemorySegment.copy(bytes, 0, memory, JAVA_BYTE, 0, bytes.length);
    return memory;
  }

  private void requireValue(byte[] value) {
    if (value.length != slotBytes()) {
      throw new IllegalArgumentException(
          "a value of " + value.length + " bytes for the map " + name + " of " + slotBytes());
    }
  }

  /** Returns the value of a key, if present. */
  public Optional<ByteBuffer> lookup(byte[] key) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment value = arena.allocate(slotBytes(), 8);
      int result = Libbpf.MAP_LOOKUP.callInt(fd, key(arena, key).address(), value.address());
      if (Libbpf.isAbsent(result)) {
        return Optional.empty();
      }
      if (result < 0) {
        throw failure("a look-up", result);
      }
      return Optional.of(ByteBuffer.wrap(value.toArray(JAVA_BYTE)).order(ByteOrder.nativeOrder()));
    }
  }

  /** Writes a value, whether the key is present or not. */
  public void put(byte[] key, byte[] value) {
    requireValue(value);
    try (Arena arena = Arena.ofConfined()) {
      int result =
          Libbpf.MAP_UPDATE.callInt(
              fd, key(arena, key).address(), copy(arena, value).address(), 0L);
      if (result < 0) {
        throw failure("an update", result);
      }
    }
  }

  /** Writes many values with few system calls. */
  public void putAll(Map<byte[], byte[]> entries) {
    if (entries.isEmpty()) {
      return;
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment keys = arena.allocate((long) entries.size() * keyBytes, 8);
      MemorySegment values = arena.allocate((long) entries.size() * slotBytes(), 8);
      int at = 0;
      for (Map.Entry<byte[], byte[]> each : entries.entrySet()) {
        requireValue(each.getValue());
        MemorySegment.copy(each.getKey(), 0, keys, JAVA_BYTE, (long) at * keyBytes, keyBytes);
        MemorySegment.copy(
            each.getValue(), 0, values, JAVA_BYTE, (long) at * slotBytes(), slotBytes());
        at++;
      }
      MemorySegment count = arena.allocateFrom(JAVA_INT, entries.size());
      MemorySegment options = Libbpf.options(arena, 24);
      int result =
          Libbpf.MAP_UPDATE_BATCH.callInt(
              fd, keys.address(), values.address(), count.address(), options.address());
      if (result < 0) {
        throw failure("an update of " + entries.size() + " entries", result);
      }
    }
  }

  /** Removes a key. Returns whether it was present. */
  public boolean remove(byte[] key) {
    try (Arena arena = Arena.ofConfined()) {
      int result = Libbpf.MAP_DELETE.callInt(fd, key(arena, key).address());
      if (result < 0 && !Libbpf.isAbsent(result)) {
        throw failure("a removal", result);
      }
      return result == 0;
    }
  }

  /** Removes these keys. */
  public void removeAll(Collection<byte[]> keys) {
    keys.forEach(this::remove);
  }

  /**
   * Reads all entries in batches, and passes each to the reader. The two buffers, key and value,
   * are valid only until the reader returns. Entries that change meanwhile may be missing or have
   * old values.
   */
  public void forEach(BiConsumer<ByteBuffer, ByteBuffer> reader) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment keys = arena.allocate((long) BATCH * keyBytes, 8);
      MemorySegment values = arena.allocate((long) BATCH * slotBytes(), 8);
      MemorySegment place = arena.allocate(Math.max(8, keyBytes), 8);
      MemorySegment count = arena.allocate(JAVA_INT);
      MemorySegment options = Libbpf.options(arena, 24);
      ByteBuffer allKeys = keys.asByteBuffer().order(ByteOrder.nativeOrder());
      ByteBuffer allValues = values.asByteBuffer().order(ByteOrder.nativeOrder());
      boolean first = true;
      int result;
      do {
        count.set(JAVA_INT, 0, BATCH);
        result =
            Libbpf.MAP_LOOKUP_BATCH.callInt(
                fd,
                first ? 0L : place.address(),
                place.address(),
                keys.address(),
                values.address(),
                count.address(),
                options.address());
        /* ENOENT means that this is the last batch. */
        if (result < 0 && !Libbpf.isAbsent(result)) {
          throw failure("a read", result);
        }
        int read = count.get(JAVA_INT, 0);
        for (int i = 0; i < read; i++) {
          reader.accept(
              allKeys.slice(i * keyBytes, keyBytes).order(ByteOrder.nativeOrder()),
              allValues.slice(i * slotBytes(), slotBytes()).order(ByteOrder.nativeOrder()));
        }
        first = false;
      } while (result >= 0);
    }
  }

  @Override
  public void close() {
    int result = LinuxCalls.close(fd);
    if (result < 0 && result != -Errno.EBADF) {
      throw failure("close", result);
    }
  }
}

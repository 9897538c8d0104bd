package io.heddle.bpf;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.heddle.platform.LinuxCalls;
import io.heddle.platform.SystemCallException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.Map;

/** Handle of a loaded BPF program and of the maps that it uses. It owns their file descriptors. */
public final class BpfProgram implements AutoCloseable {
  private static final int INFO_BYTES = 232;
  private static final int MOST_MAPS = 64;
  private static final int SK_BUFF_BYTES = 192;
  private static final int SK_BUFF_MARK = 8;

  private final int fd;
  private final int id;
  private final String name;
  private final Map<String, BpfMap> maps;

  /**
   * Result of test runs of a program on a packet that isn't sent.
   *
   * @param result the program's return value
   * @param mark mark of the packet after the run
   * @param durationNs duration of one run, averaged over all runs
   */
  public record Run(int result, int mark, long durationNs) {}

  private BpfProgram(int fd, int id, String name, Map<String, BpfMap> maps) {
    this.fd = fd;
    this.id = id;
    this.name = name;
    this.maps = maps;
  }

  /** Returns the program of a file descriptor, and takes ownership of the descriptor. */
  static BpfProgram of(int fd) {
    try (Arena arena = Arena.ofConfined()) {
      /* struct bpf_prog_info: type, id, tag[8], ..., nr_map_ids at 52, map_ids at 56, name[16] at 64 */
      MemorySegment ids = arena.allocate(JAVA_INT, MOST_MAPS);
      MemorySegment info = arena.allocate(INFO_BYTES, 8);
      info.set(JAVA_INT, 52, MOST_MAPS);
      info.set(JAVA_LONG, 56, ids.address());
      BpfObjectDescription.read("program", fd, info);
      Map<String, BpfMap> maps = new LinkedHashMap<>();
      BpfProgram program = new BpfProgram(fd, info.get(JAVA_INT, 4), info.getString(64), maps);
      try {
        for (int i = 0; i < Math.min(MOST_MAPS, info.get(JAVA_INT, 52)); i++) {
          long map = ids.getAtIndex(JAVA_INT, i);
          BpfMap each =
              BpfMap.of(
                  SystemCallException.check("BPF_MAP_GET_FD_BY_ID", Libbpf.MAP_BY_ID.callInt(map)));
          maps.put(each.name(), each);
        }
        return program;
      } catch (RuntimeException failed) {
        program.close();
        throw failed;
      }
    }
  }

  /** Returns the kernel's id of a descriptor's program. The caller still owns the descriptor. */
  static int idOf(int fd) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment info = arena.allocate(INFO_BYTES, 8);
      BpfObjectDescription.read("program", fd, info);
      return info.get(JAVA_INT, 4);
    }
  }

  /**
   * Opens the program with this id.
   *
   * @throws SystemCallException if there is no such program, or CAP_SYS_ADMIN is missing
   */
  static BpfProgram byId(int id) {
    return of(
        SystemCallException.check("BPF_PROG_GET_FD_BY_ID " + id, Libbpf.PROGRAM_BY_ID.callInt(id)));
  }

  int fileDescriptor() {
    return fd;
  }

  public int id() {
    return id;
  }

  public String name() {
    return name;
  }

  /** Returns the maps by name. */
  public Map<String, BpfMap> maps() {
    return java.util.Collections.unmodifiableMap(maps);
  }

  /**
   * @throws IllegalArgumentException if the program has no such map
   */
  public BpfMap map(String wanted) {
    BpfMap found = maps.get(wanted);
    if (found == null) {
      throw new IllegalArgumentException(
          "the program " + name + " has no map " + wanted + ", only " + maps.keySet());
    }
    return found;
  }

  /**
   * Runs the program on a packet that isn't sent (BPF_PROG_TEST_RUN).
   *
   * @param packet bytes of the packet, from its Ethernet header on
   * @param times number of runs, to average the duration
   */
  public Run run(byte[] packet, int times) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment data = arena.allocate(packet.length, 8);
      MemorySegment.copy(packet, 0, data, JAVA_BYTE, 0, packet.length);
      MemorySegment context = arena.allocate(SK_BUFF_BYTES, 8);
      /* struct bpf_test_run_opts */
      MemorySegment options = Libbpf.options(arena, 80);
      options.set(JAVA_LONG, 8, data.address());
      options.set(JAVA_INT, 24, packet.length);
      options.set(JAVA_LONG, 40, context.address());
      options.set(JAVA_INT, 52, SK_BUFF_BYTES);
      options.set(JAVA_INT, 60, times);
      SystemCallException.check(
          "BPF_PROG_TEST_RUN of " + name, Libbpf.TEST_RUN.callInt(fd, options.address()));
      return new Run(
          options.get(JAVA_INT, 56),
          context.get(JAVA_INT, SK_BUFF_MARK),
          options.get(JAVA_INT, 64));
    }
  }

  /**
   * Closes the descriptors of the program and its maps. The program stays attached to interfaces.
   */
  @Override
  public void close() {
    maps.values().forEach(BpfMap::close);
    maps.clear();
    LinuxCalls.close(fd);
  }
}

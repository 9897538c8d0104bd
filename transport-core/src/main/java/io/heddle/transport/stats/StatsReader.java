package io.heddle.transport.stats;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.heddle.platform.HeddleException;
import io.heddle.platform.Memory;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/** Reads the statistics file of any process, running or ended. */
public final class StatsReader {
  /**
   * One communicator on one plane, or the sum of the closed ones of a plane.
   *
   * @param direction which way the data goes
   * @param planeKey the plane
   * @param weight what the plane was asked to carry
   * @param peer the other end
   * @param local this end's address, 16 bytes, zero where unknown
   * @param remote the peer's, likewise
   * @param weightSource where the weight comes from, at most 23 bytes of it
   */
  public record Row(
      StatsFile.Direction direction,
      String planeKey,
      int weight,
      String peer,
      long bytes,
      long chunks,
      long messages,
      long duplicates,
      long wouldBlock,
      byte[] local,
      byte[] remote,
      String weightSource) {}

  private StatsReader() {}

  /**
   * @throws HeddleException when the file can't be read or isn't one
   */
  public static List<Row> read(Path path) {
    try (Arena arena = Arena.ofConfined();
        FileChannel file = FileChannel.open(path, StandardOpenOption.READ)) {
      if (file.size() < StatsLayout.FILE_BYTES) {
        throw new HeddleException(
            path + " is no statistics file: it has " + file.size() + " bytes");
      }
      MemorySegment map = file.map(FileChannel.MapMode.READ_ONLY, 0, file.size(), arena);
      if (map.get(Memory.NATIVE_LONG, 0) != StatsLayout.MAGIC) {
        throw new HeddleException(path + " is no statistics file of this version");
      }
      List<Row> rows = new ArrayList<>();
      for (int i = 0; i < StatsLayout.RECORDS; i++) {
        long record = StatsLayout.HEADER_BYTES + (long) i * StatsLayout.RECORD_BYTES;
        if (map.get(Memory.NATIVE_INT, record + StatsLayout.STATE) != StatsLayout.FREE) {
          rows.add(row(map, record));
        }
      }
      return rows;
    } catch (IOException failure) {
      throw new HeddleException("the statistics file " + path + " can't be read", failure);
    }
  }

  private static Row row(MemorySegment map, long record) {
    return new Row(
        map.get(Memory.NATIVE_INT, record + StatsLayout.DIRECTION) == 0
            ? StatsFile.Direction.SEND
            : StatsFile.Direction.RECEIVE,
        text(map, record + StatsLayout.KEY, StatsLayout.KEY_BYTES),
        map.get(Memory.NATIVE_INT, record + StatsLayout.WEIGHT),
        text(map, record + StatsLayout.PEER, StatsLayout.PEER_BYTES),
        map.get(Memory.NATIVE_LONG, record + StatsLayout.BYTES),
        map.get(Memory.NATIVE_LONG, record + StatsLayout.CHUNKS),
        map.get(Memory.NATIVE_LONG, record + StatsLayout.MESSAGES),
        map.get(Memory.NATIVE_LONG, record + StatsLayout.DUPLICATES),
        map.get(Memory.NATIVE_LONG, record + StatsLayout.WOULD_BLOCK),
        bytes(map, record + StatsLayout.LOCAL),
        bytes(map, record + StatsLayout.REMOTE),
        text(map, record + StatsLayout.SOURCE, StatsLayout.SOURCE_BYTES));
  }

  private static byte[] bytes(MemorySegment map, long offset) {
    return map.asSlice(offset, StatsLayout.ADDRESS_BYTES).toArray(JAVA_BYTE);
  }

  static String text(MemorySegment segment, long offset, int fieldBytes) {
    byte[] bytes = new byte[fieldBytes];
    MemorySegment.copy(segment, JAVA_BYTE, offset, bytes, 0, fieldBytes);
    int length = 0;
    while (length < fieldBytes && bytes[length] != 0) {
      length++;
    }
    return new String(bytes, 0, length, StandardCharsets.UTF_8);
  }
}

package io.heddle.systemtests;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.Arguments;

/**
 * perftest's options that no other test uses, singly and combined, for each of the five tests and
 * in both roles.
 */
public final class PerftestMatrix {
  /* Number of sizes from 2 bytes to 8 MiB. */
  private static final int SIZES = 23;

  private PerftestMatrix() {}

  /**
   * Returns rows of two columns: a test with its options, and whether Heddle is the server.
   *
   * @param many number of messages in the largest row
   */
  public static Stream<Arguments> rows(int many) {
    List<String> ofBandwidth =
        List.of(
            "-q 3 -n 7",
            "-b -q 2 -n 101",
            "-t 1 -n 50",
            "-t 5 -n 13",
            "-l 5 -n 100",
            "-b -q 2 -l 4 -n 40",
            "-N -n 33",
            "-Q 1 -n 33",
            "-n " + many,
            "-s 1 -n 9",
            "-m 256 -s 10001 -n 41",
            "-a -n 5",
            "-b -a -n 5",
            "-D 2",
            "-b -D 2",
            "-c RC -S 1 --tclass 96 -n 33");
    List<String> ofLatency =
        List.of(
            "-n 5",
            "-s 1 -n 9",
            "-s 8388608 -n 5",
            "-m 512 -s 10001 -n 41",
            "-I 0 -n 33",
            "-c RC -D 2");
    return Stream.of("write_bw", "send_bw", "read_bw", "write_lat", "send_lat")
        .flatMap(test ->
            (test.endsWith("_lat") ? ofLatency : ofBandwidth)
                .stream().map(options -> test + " " + options))
        .flatMap(test -> Stream.of(Arguments.of(test, false), Arguments.of(test, true)));
  }

  /**
   * Returns the size and the number of messages of each row in an end's output. For a test with a
   * duration, whose ends count separately, it returns the size only.
   */
  public static List<String> measured(String output, String test) {
    boolean byTime = test.contains("-D");
    return output
        .lines()
        .map(String::strip)
        .filter(line -> line.matches("[0-9]+ +[0-9]+ +([0-9.]+|inf|nan) .*"))
        .map(line -> line.split("\\s+"))
        .map(words -> byTime ? words[0] : words[0] + " " + words[1])
        .toList();
  }

  /**
   * Returns the rows that the server must have printed beside this client. A passive server, such
   * as the server of one-way writes, prints only the last of all sizes.
   */
  public static List<String> ofServer(String clientsOutput, String test) {
    List<String> rows = measured(clientsOutput, test);
    boolean all = test.contains(" -a");
    if (rows.size() != (all ? SIZES : 1)) {
      throw new AssertionError(test + ": the client has measured " + rows);
    }
    boolean waits = !test.startsWith("send") && !test.contains(" -b");
    return all && waits ? List.of(rows.getLast()) : rows;
  }
}

package io.heddle.bgp.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bgp.wire.AddressFamily;
import io.heddle.bgp.wire.AttributeFault;
import io.heddle.bgp.wire.AttributeFault.Treatment;
import io.heddle.bgp.wire.Capability;
import io.heddle.bgp.wire.DecodeResult;
import io.heddle.bgp.wire.KeepaliveMessage;
import io.heddle.bgp.wire.NotificationMessage;
import io.heddle.bgp.wire.OpenMessage;
import io.heddle.bgp.wire.Prefix;
import io.heddle.bgp.wire.UpdateMessage;
import io.heddle.platform.testing.EndsWithin;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests of each row of the tables in docs/bgp-values.md, sent by a peer over TCP. */
@EndsWithin(60)
class ForbiddenValuesTest {
  private static final Path PAGE = Path.of("../../docs/bgp-values.md");
  private static final String USUAL_NEXT_HOP = "fd00:ff::2";
  private static final Prefix USUAL = Prefix.of("fd00:900::/32");

  private final RecordingListener heard = new RecordingListener();
  private final BgpSpeaker speaker = new BgpSpeaker(heard.logTo());
  private RawPeer peer;

  /** Row of a table in docs/bgp-values.md. */
  record Row(String value, String peer, String outcome, String message) {
    @Override
    public String toString() {
      return value + ": " + outcome;
    }
  }

  @BeforeEach
  void openPeer() throws Exception {
    peer = new RawPeer();
  }

  @AfterEach
  void closeBoth() throws Exception {
    speaker.close();
    peer.close();
  }

  static Stream<Row> updates() throws IOException {
    return rows("## UPDATE", 60);
  }

  static Stream<Row> opens() throws IOException {
    return rows("## OPEN", 15);
  }

  private static Stream<Row> rows(String heading, int least) throws IOException {
    String section = Files.readString(PAGE).split(heading + "\n")[1].split("\n## ")[0];
    List<Row> rows = new ArrayList<>();
    for (String line : section.split("\n")) {
      String[] cells = line.split(" *\\| *");
      if (cells.length == 6 && cells[5].startsWith("`")) {
        rows.add(new Row(cells[1], cells[3], cells[4], cells[5].replace("`", "")));
      }
    }
    assertTrue(rows.size() >= least, rows.size() + " rows under " + heading);
    return rows.stream();
  }

  @ParameterizedTest
  @MethodSource("updates")
  void updateHasTheDocumentedOutcome(Row row) throws Exception {
    PeerSession session = start(row.peer.equals("int") ? 65001 : 65002);
    String as = row.peer.equals("int") ? "as=65001 four=65001" : "as=65002 four=65002";
    establish(row.peer.equals("old") ? "as=65002 four=none" : as);
    peer.send(message(2, update(row)));
    if (row.outcome.startsWith("end ")) {
      assertEnds(row);
      return;
    }
    peer.send(UpdateMessage.END_OF_RIB);
    heard.awaitEvent("end of rib");
    assertEquals(SessionState.ESTABLISHED, speaker.callOnLoop(session::state));
    UpdateMessage update = heard.updates.getFirst();
    boolean gone = row.outcome.equals("withdraw") || row.outcome.equals("loop");
    assertEquals(!gone, update.announced().prefixes().contains(USUAL), update.toString());
    assertEquals(gone, update.withdrawn().prefixes().contains(USUAL), update.toString());
    Treatment expected =
        switch (row.outcome) {
          case "withdraw" -> Treatment.WITHDRAW;
          case "leave out" -> Treatment.DISCARD;
          case "pass over" -> Treatment.IGNORE;
          case "loop", "take" -> null;
          default -> throw new IllegalArgumentException(row.outcome);
        };
    assertEquals(
        expected == null ? List.of() : List.of(expected),
        update.faults().stream().map(AttributeFault::treatment).toList(),
        update.faults().toString());
    SessionCounters counters = speaker.callOnLoop(session::status).counters();
    assertEquals(expected == null ? 0 : 1, counters.attributeFaults());
    assertEquals(row.outcome.equals("loop") ? 1 : 0, counters.looped());
    assertEquals(row.outcome.equals("pass over") ? 1 : 0, counters.ignored());
    int announced = row.message.contains("=") && !row.outcome.equals("pass over") ? 2 : 1;
    assertEquals(gone ? 0 : announced, update.announced().size());
  }

  @ParameterizedTest
  @MethodSource("opens")
  void openHasTheDocumentedOutcome(Row row) throws Exception {
    start(row.peer.equals("int") ? 65001 : 65002);
    if (row.outcome.startsWith("end ")) {
      peer.accept();
      assertInstanceOf(OpenMessage.class, peer.read());
      sendOpen(row.message);
      assertEnds(row);
    } else {
      establish(row.message);
      heard.awaitEvent("established");
    }
  }

  private PeerSession start(long remoteAs) {
    PeerSession session =
        speaker.add(
            PeerOptions.builder("leaf")
                .remote(Prefix.of("::1").address())
                .port(peer.port())
                .localAs(65001)
                .remoteAs(remoteAs)
                .routerId(0x0a000001)
                .build(),
            heard);
    speaker.execute(session::start);
    return session;
  }

  private void establish(String open) throws IOException {
    peer.accept();
    sendOpen(open);
    peer.send(KeepaliveMessage.INSTANCE);
    assertInstanceOf(OpenMessage.class, peer.read());
    assertEquals(KeepaliveMessage.INSTANCE, peer.read());
    assertEquals(UpdateMessage.END_OF_RIB, peer.read());
  }

  private void assertEnds(Row row) throws IOException {
    DecodeResult answer = peer.read();
    while (answer instanceof KeepaliveMessage) {
      answer = peer.read();
    }
    NotificationMessage notification = assertInstanceOf(NotificationMessage.class, answer);
    assertEquals(row.outcome, "end " + notification.code() + "/" + notification.subcode());
  }

  private void sendOpen(String words) throws IOException {
    int version = 4;
    int as = 65002;
    String four = "65002";
    int hold = 30;
    int id = 1;
    String family = "";
    String parameter = "";
    for (String word : words.split(" ")) {
      String value = word.split("=")[1];
      switch (word.split("=")[0]) {
        case "version" -> version = Integer.decode(value);
        case "as" -> as = Integer.decode(value);
        case "four" -> four = value;
        case "hold" -> hold = Integer.decode(value);
        case "id" -> id = Long.decode(value).intValue();
        case "family" -> family = value;
        case "parameter" -> parameter = "%02x0100".formatted(Integer.decode(value));
        default -> throw new IllegalArgumentException(word);
      }
    }
    String capabilities =
        (family.isEmpty()
                ? "%02x04%04x00%02x"
                    .formatted(
                        Capability.MULTIPROTOCOL,
                        AddressFamily.IPV6_UNICAST.afi(),
                        AddressFamily.IPV6_UNICAST.safi())
                : "")
            + (four.equals("none")
                ? ""
                : "%02x04%08x".formatted(Capability.FOUR_OCTET_AS, Long.decode(four)));
    String parameters =
        parameter
            + (capabilities.isEmpty()
                ? ""
                : "02%02x%s".formatted(capabilities.length() / 2, capabilities));
    peer.send(
        message(
            1,
            "%02x%04x%04x%08x%02x%s"
                .formatted(version, as, hold, id, parameters.length() / 2, parameters)));
  }

  /* Returns the body of the UPDATE that a row describes, in hex. */
  private static String update(Row row) {
    StringBuilder attributes = new StringBuilder();
    for (String word : row.message.split(" ")) {
      attributes.append(
          switch (word) {
            case "origin" -> "40010100";
            case "path" ->
                switch (row.peer) {
                  case "old" -> "4002040201fdea";
                  case "int" -> "400200";
                  default -> "40020602010000fdea";
                };
            case "pref" -> "40050400000064";
            default -> word.startsWith("route") ? reach(word) : word;
          });
    }
    return "0000%04x%s".formatted(attributes.length() / 2, attributes);
  }

  private static String reach(String word) {
    String nextHops = word.contains(">") ? word.split(">")[1] : USUAL_NEXT_HOP;
    StringBuilder value = new StringBuilder("000201");
    value.append("%02x".formatted(16 * nextHops.split(",").length));
    for (String each : nextHops.split(",")) {
      value.append(hex(address(each), 16));
    }
    value.append("00");
    if (word.contains("=")) {
      String[] prefix = word.split("=")[1].split("/");
      int length = Integer.parseInt(prefix[1]);
      value.append("%02x%s".formatted(length, hex(address(prefix[0]), (length + 7) / 8)));
    }
    value.append("20fd000900");
    return "800e%02x%s".formatted(value.length() / 2, value);
  }

  /*
   * Returns the bytes of an IPv6 address. Java would turn a mapped address into an IPv4 address, so
   * its bytes are written here.
   */
  private static byte[] address(String text) {
    if (text.startsWith("::ffff:")) {
      byte[] whole = new byte[16];
      whole[10] = whole[11] = -1;
      String[] parts = text.substring(7).split("\\.");
      for (int i = 0; i < 4; i++) {
        whole[12 + i] = (byte) Integer.parseInt(parts[i]);
      }
      return whole;
    }
    return Prefix.of(text).address().getAddress();
  }

  private static String hex(byte[] bytes, int count) {
    return HexFormat.of().formatHex(bytes, 0, count);
  }

  private static byte[] message(int type, String body) {
    return HexFormat.of()
        .parseHex("ff".repeat(16) + "%04x%02x".formatted(19 + body.length() / 2, type) + body);
  }
}

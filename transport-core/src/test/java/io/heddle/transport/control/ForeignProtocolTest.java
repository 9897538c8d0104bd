package io.heddle.transport.control;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ForeignProtocolTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "HTTP/1.1 502 Bad Gateway\\r\\nX: 1 | it said \"HTTP/1.1 502 Bad Gateway\", as a web server"
            + " or an HTTP proxy answers; it isn't Heddle",
        "SSH-2.0-OpenSSH_9.6\\r\\n"
            + " | it said \"SSH-2.0-OpenSSH_9.6\", as an SSH server does; it isn't Heddle",
        "220 mail ESMTP\\r\\n | it said \"220 mail ESMTP\", as a mail or FTP server does; it isn't"
            + " Heddle",
        "GET / HTTP/1.1\\r\\n | it said \"GET / HTTP/1.1\", as a web client or a scanner asks; it"
            + " isn't Heddle",
        "-ERR unknown command\\r\\n | it said \"-ERR unknown command\"; it isn't Heddle",
      })
  void textIsQuotedWithItsLikelyProtocol(String received, String described) {
    byte[] bytes =
        received.replace("\\r", "\r").replace("\\n", "\n").getBytes(StandardCharsets.US_ASCII);
    assertEquals(described, ForeignProtocol.describe(ByteBuffer.wrap(bytes), "a frame"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "15030300020228 | it sent a TLS alert (number 40), as a server of HTTPS or another service"
            + " over TLS does; it isn't Heddle",
        "160301020001 | it began a TLS handshake; it isn't Heddle",
        "000012040000000000 | it sent settings of HTTP/2, as a server of HTTP/2 or gRPC does; it"
            + " isn't Heddle",
        "4a0000000a382e30 | a frame, which begins with 4a 00 00 00 0a 38 2e 30",
        "7f454c46020101 | a frame, which begins with 7f 45 4c 46 02 01 01",
        "48540d0a | a frame, which begins with 48 54 0d 0a",
        "1503 | it sent a TLS alert, as a server of HTTPS or another service over TLS does; it"
            + " isn't Heddle"
      })
  void otherBytesAreIdentifiedOrShown(String hex, String described) {
    ByteBuffer received = ByteBuffer.wrap(HexFormat.of().parseHex(hex));
    assertEquals(described, ForeignProtocol.describe(received, "a frame"));
    assertEquals(0, received.position());
  }
}

package io.heddle.systemtests.guest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.cli.heddle.HeddleCommand;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.platform.testing.WholeRunOnly;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Test of unicast datagrams over a bridge between a port of the kernel's rxe and an Ethernet
 * interface, in the topology of {@link BridgeOverRxeTest}. The bridge uses the kernel's RDMA CM on
 * the rxe side and its own packets on the interface's side. The hosts run stock programs.
 */
@EndsWithin(600)
@SystemTest
final class MappedOnRxeTest {
  private static final int LIMIT_SECONDS = 540;

  static final String PROXIES =
      """
      [proxy a 10.1.0.200]
      for = 10.2.0.1
      [proxy b 10.2.0.200]
      for = 10.1.0.1
      [proxy a fd01::200]
      for = fd02::1
      [proxy b fd02::200]
      for = fd01::1
      """;

  static final String MAPPED =
      """
      [unicast]
      mode = mapped
      addresses = proxied
      ports = 7174
      queue-pairs = 12
      """
          + PROXIES;

  private static final String ADDRESSES =
      """
      ip addr add 10.1.0.200/32 dev gA
      ip addr add fd01::200/128 nodad dev gA
      ip -n gw addr add 10.2.0.200/32 dev gB
      ip -n gw addr add fd02::200/128 nodad dev gB
      # Programs here look up routes by their own address, without an interface.
      for own in "10.1.0.1 101" "10.1.0.254 102" "10.1.0.200 102" "10.2.0.1 103" \\
        "fd01::1 101" "fd01::254 102" "fd01::200 102" "fd02::1 103"; do
        set -- $own
        family=-4
        [[ $1 != *:* ]] || family=-6
        ip $family rule add pref 20 from "$1" iif lo lookup "$2"
      done
      cat >/tmp/bridge.conf <<CONFIG
      name = guest
      status = /tmp/status
      [fabric a]
      kind = verbs
      device = rxeG
      address = 10.1.0.254,fd01::254
      [fabric b]
      kind = wire
      interface = gB
      namespace = gw
      address = 10.2.0.254,fd02::254
      """
          + MAPPED
          + "CONFIG\n";

  /* The server prints nothing when it listens, so the client is repeated until it succeeds. */
  static final String PROGRAMS =
      BridgeOverRxeTest.BRIDGE
          + """
          # talk FROM TO BY CLIENTS DATAGRAMS: both directions between clients and a server of RDMA CM.
          talk() {
            udaddy -b "$2" -c "$4" -C "$5" >/tmp/server 2>&1 &
            local server=$! tries=0
            until udaddy -s "$3" -b "$1" -c "$4" -C "$5" >/tmp/client 2>&1; do
              tries=$((tries + 1))
              if ! kill -0 "$server" || ((tries > 10)); then
                cat /tmp/client /tmp/server /tmp/log
                heddle bridge show --status /tmp/status
                exit 1
              fi
              sleep 0.2
            done
            wait "$server"
            echo "$4 on $1 talked to $2 by $3"
          }
          """;

  @TempDir private Path folder;

  @Test
  @WholeRunOnly
  void stockProgramsConnectInBothDirections() throws Exception {
    RxeGuest.assumePrograms("rdma", "udaddy");
    String heddle = "heddle() { " + RxeGuest.java(List.of(), HeddleCommand.class) + " \"$@\"; }\n";
    String talks =
        """
        talk 10.2.0.1 10.1.0.1 10.2.0.200 1 50
        talk 10.1.0.1 10.2.0.1 10.1.0.200 1 50
        talk 10.2.0.1 10.1.0.1 10.2.0.200 3 10
        talk 10.1.0.1 10.2.0.1 10.1.0.200 3 10
        talk fd02::1 fd01::1 fd02::200 1 50
        talk fd01::1 fd02::1 fd01::200 1 50
        heddle bridge show --status /tmp/status
        """;
    RxeGuest.Ended ended =
        RxeGuest.run(
            GuestPlan.bare().within(LIMIT_SECONDS),
            folder,
            BridgeOverRxeTest.TOPOLOGY + ADDRESSES + heddle + PROGRAMS + talks);
    String output = ended.output();
    assertEquals(0, ended.exitCode(), output);
    for (String talk :
        List.of(
            "1 on 10.2.0.1 talked to 10.1.0.1 by 10.2.0.200",
            "1 on 10.1.0.1 talked to 10.2.0.1 by 10.1.0.200",
            "3 on 10.2.0.1 talked to 10.1.0.1 by 10.2.0.200",
            "3 on 10.1.0.1 talked to 10.2.0.1 by 10.1.0.200",
            "1 on fd02::1 talked to fd01::1 by fd02::200",
            "1 on fd01::1 talked to fd02::1 by fd01::200")) {
      assertTrue(output.contains(talk), output);
    }
  }
}

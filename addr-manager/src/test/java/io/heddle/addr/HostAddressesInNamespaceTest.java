package io.heddle.addr;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.Patience;
import io.heddle.platform.testing.SystemTest;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** What the kernel of this machine says, in a namespace where it is known what it must say. */
@EndsWithin(60)
@SystemTest
final class HostAddressesInNamespaceTest {
  /* A mount namespace too, so that /sys can show the new network namespace. Without root, a user namespace as well. */
  private static List<String> inNamespace(String... command) {
    List<String> whole =
        new ArrayList<>(List.of("unshare", "--user", "--map-root-user", "--net", "--mount"));
    whole.addAll(List.of("sh", "-c", "mount -t sysfs none /sys && exec \"$@\"", "sh"));
    whole.addAll(List.of(command));
    return whole;
  }

  private static String run(List<String> command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertTrue(Patience.ofSeconds(30).outlasts(process));
    return process.exitValue() == 0 ? output : "exit code " + process.exitValue() + ": " + output;
  }

  private static void assumeNamespaces() throws IOException, InterruptedException {
    String refusal;
    try {
      refusal = run(inNamespace("ip", "link", "add", "e0", "type", "veth"));
    } catch (IOException noUnshare) {
      refusal = noUnshare.getMessage();
    }
    if (!refusal.isEmpty()) {
      System.out.println(
          "skipped: no network namespace with veth can be made here: " + refusal.strip());
      Assumptions.abort(refusal);
    }
  }

  @Test
  void seesLinksAddressesPlanesAndChanges() throws IOException, InterruptedException {
    assumeNamespaces();
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    String output =
        run(
            inNamespace(
                java,
                "--enable-native-access=ALL-UNNAMED",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                AddressScenario.class.getName()));
    assertEquals(
        """
        e0 is up: true
        link lo mtu 65536 up false carrier true mac 00:00:00:00:00:00 kind  speed 0
        link p0 mtu 1500 up true carrier true mac * kind veth speed 10000000000
        link e0 mtu 9000 up true carrier true mac 02:00:00:00:01:01 kind veth speed 10000000000
        link p1 mtu 1500 up false carrier false mac * kind veth speed 0
        link e1 mtu 1500 up true carrier false mac 02:00:00:00:01:02 kind veth speed 10000000000
        plane subnet:0001 fd00:1:1:1:0:ff:fe00:101/64
        rejected fd00:1:1:2::7/64 on e0 isn't used: it is deprecated: its preferred lifetime is over
        rejected fd00:1:1:3::8/64 on e1 isn't used: its interface is down or has no carrier
        events came: true
        nothing waits: true
        carrier came: true
        two usable: true
        removals came: true
        none usable: true
        """,
        output.replaceAll("(link p. .* mac )[0-9a-f:]+", "$1*"));
  }
}

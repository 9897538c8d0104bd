package io.heddle.telemetry.tls;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Assumptions;

/** Certificates for tests, made by openssl: an authority, and certificates that it signs. */
public final class TestCertificates {
  private final Path folder;
  private final String authority;

  private TestCertificates(Path folder, String authority) {
    this.folder = folder;
    this.authority = authority;
  }

  /**
   * Creates an authority; skips the test if openssl isn't installed.
   *
   * @param name name of the authority's files in the folder
   */
  public static TestCertificates authority(Path folder, String name) throws Exception {
    if (!Files.isExecutable(Path.of("/usr/bin/openssl"))) {
      System.out.println("skipped: openssl isn't installed");
      Assumptions.abort("openssl isn't installed");
    }
    TestCertificates made = new TestCertificates(folder, name);
    made.openssl(
        "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj /CN=%1$s -keyout %1$s.key -out %1$s.pem"
            .formatted(name));
    return made;
  }

  /**
   * Creates a certificate with its key, signed by the authority.
   *
   * @param name name of the certificate's files in the folder
   * @param names names in the certificate, such as {@code DNS:gw1} and {@code IP:::1}
   */
  public TlsFiles sign(String name, String... names) throws Exception {
    openssl(
        "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=%1$s -keyout %1$s.key -out %1$s.csr"
            .formatted(name));
    Files.writeString(
        folder.resolve(name + ".ext"), "subjectAltName = " + String.join(", ", names) + "\n");
    openssl(
        "x509 -req -in %1$s.csr -CA %2$s.pem -CAkey %2$s.key -CAcreateserial -days 30 -extfile %1$s.ext -out %1$s.pem"
            .formatted(name, authority));
    return new TlsFiles(file(name + ".pem"), file(name + ".key"), file(authority + ".pem"));
  }

  private Path file(String name) {
    return folder.resolve(name);
  }

  private void openssl(String words) throws IOException, InterruptedException {
    List<String> command = new java.util.ArrayList<>(List.of("openssl"));
    command.addAll(List.of(words.split(" ")));
    Process process =
        new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (process.waitFor() != 0) {
      throw new IllegalStateException(command + ": " + said);
    }
  }
}

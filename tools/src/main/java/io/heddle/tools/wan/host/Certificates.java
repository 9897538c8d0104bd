package io.heddle.tools.wan.host;

import io.heddle.platform.HeddleException;
import io.heddle.platform.Shell;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * Certificate authority of the demo, with certificates that openssl makes as docs/dci.md describes.
 */
public final class Certificates {
  private static final String NEW_KEY = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes";

  private final Path folder;

  /** Creates the authority's key and certificate in a folder. */
  public Certificates(Path folder) {
    this.folder = folder;
    openssl("req -x509 %s -days 30 -subj /CN=demo -keyout ca.key -out ca.pem".formatted(NEW_KEY));
  }

  /** Creates NAME.key and NAME.pem, the authority's certificate for an address. */
  public void sign(String name, String address) {
    openssl("req %s -subj /CN=%2$s -keyout %2$s.key -out %2$s.csr".formatted(NEW_KEY, name));
    try {
      Files.writeString(folder.resolve(name + ".ext"), "subjectAltName = IP:" + address + "\n");
    } catch (IOException failed) {
      throw new HeddleException(
          "the demo's folder can't be written: " + failed.getMessage(), failed);
    }
    openssl(
        "x509 -req -in %1$s.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 30 -extfile %1$s.ext -out %1$s.pem"
            .formatted(name));
  }

  private void openssl(String words) {
    List<String> inFolder = List.of("env", "--chdir=" + folder, "openssl");
    Shell.run(Stream.concat(inFolder.stream(), Arrays.stream(words.split(" "))).toList());
  }
}

package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Tests of {@code ./heddle} without a JDK: it downloads the pinned one. */
@Execution(ExecutionMode.CONCURRENT)
@EndsWithin(120)
@SystemTest
final class LauncherJdkTest extends StubbedCheckout {
  /*
   * Returns an archive that the command downloads as the JDK of Temurin. Its programs are scripts.
   */
  private byte[] archiveOfJdk() throws Exception {
    Path jdk = folder.resolve("archive/jdk-25");
    Files.createDirectories(jdk.resolve("bin"));
    Files.writeString(jdk.resolve("release"), "JAVA_VERSION=\"25.0.4\"\n");
    for (String name : List.of("java", "javac")) {
      Path file = Files.writeString(jdk.resolve("bin").resolve(name), "#!/bin/sh\nexit 0\n");
      Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }
    Path archive = folder.resolve("jdk.tar.gz");
    Process tar =
        new ProcessBuilder("tar", "-czf", archive.toString(), "-C", folder + "/archive", "jdk-25")
            .inheritIO()
            .start();
    assertEquals(0, tar.waitFor());
    return Files.readAllBytes(archive);
  }

  private void pinTheJdk(String address, String sha256) throws IOException {
    Path script = checkout.resolve("config/jdk.sh");
    String pinned =
        Files.readString(script)
            .replaceFirst("jdk_address=.*", "jdk_address=" + address)
            .replaceAll("(\\[(?:x86_64|aarch64)]=)[0-9a-f]{64}", "$1" + sha256);
    Files.writeString(script, pinned);
  }

  private static String sha256(byte[] bytes) throws Exception {
    return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
  }

  /*
   * Runs the command where /usr/lib/jvm and similar folders are empty, and the environment names no
   * JDK.
   */
  private String outputWithoutJdk(int exitCode, String... arguments) throws Exception {
    for (String tool : List.of("curl", "sha256sum", "tar", "gzip", "grep")) {
      program(tool, "exec " + find(tool) + " \"$@\"\n");
    }
    buildBy("exit 0\n");
    List<String> command =
        new ArrayList<>(
            MountNamespace.with("mount -t tmpfs none /usr/lib/jvm; mount -t tmpfs none /opt"));
    command.addAll(List.of("env", "-i", "PATH=" + programs, "HOME=" + folder));
    command.add(checkout.resolve("heddle").toString());
    command.addAll(List.of(arguments));
    try (HostProcess process = HostProcess.start(command, folder.resolve("jdk-said"), Map.of())) {
      assertEquals(exitCode, process.exitCode(60), process.output());
      return process.output();
    }
  }

  /* Serves these bytes under every URL, with this Content-Length. */
  private static HttpServer serve(byte[] bytes, int length) throws IOException {
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    server.createContext(
        "/",
        exchange -> {
          exchange.sendResponseHeaders(200, length);
          exchange.getResponseBody().write(bytes);
          exchange.close();
        });
    server.start();
    return server;
  }

  private String download(byte[] served, int length, String sha256, int exitCode, String... words)
      throws Exception {
    MountNamespace.orSkip();
    HttpServer server = serve(served, length);
    try {
      pinTheJdk("http://127.0.0.1:" + server.getAddress().getPort(), sha256);
      return outputWithoutJdk(exitCode, words);
    } finally {
      server.stop(0);
    }
  }

  @Test
  void downloadsJdkIfNoneIsInstalled() throws Exception {
    byte[] archive = archiveOfJdk();
    String said = download(archive, archive.length, sha256(archive), 0, "build");
    assertTrue(said.contains("no JDK 25 found; downloading Temurin 25"), said);
    assertTrue(Files.isExecutable(checkout.resolve(".build/jdk/bin/javac")), said);
    assertFalse(Files.exists(checkout.resolve(".build/jdk.tar.gz")), said);
  }

  @Test
  void deletesJdkWithWrongChecksum() throws Exception {
    byte[] archive = archiveOfJdk();
    String said = download(archive, archive.length, "0".repeat(64), 1, "build");
    assertTrue(said.contains("is not Temurin's: its SHA-256 is " + sha256(archive)), said);
    assertTrue(said.contains("no JDK 25 or later found: install"), said);
    assertFalse(Files.exists(checkout.resolve(".build/jdk")), said);
    assertFalse(Files.exists(checkout.resolve(".build/jdk.tar.gz")), said);
  }

  @Test
  void deletesTruncatedJdk() throws Exception {
    byte[] archive = archiveOfJdk();
    byte[] half = Arrays.copyOf(archive, archive.length / 2);
    String said = download(half, archive.length, sha256(archive), 1, "build");
    assertTrue(said.contains("heddle: the download failed"), said);
    assertTrue(said.contains("no JDK 25 or later found: install"), said);
    assertFalse(Files.exists(checkout.resolve(".build/jdk.tar.gz")), said);
  }

  @Test
  void offlineCommandDownloadsNoJdk() throws Exception {
    byte[] archive = archiveOfJdk();
    String said = download(archive, archive.length, sha256(archive), 1, "--offline", "build");
    assertTrue(said.contains("--offline was given"), said);
    assertTrue(said.contains("no JDK 25 or later found: install"), said);
    assertFalse(Files.exists(checkout.resolve(".build/jdk")), said);
  }
}

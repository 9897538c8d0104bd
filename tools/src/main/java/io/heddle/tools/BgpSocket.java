package io.heddle.tools;

import io.heddle.platform.FileFailure;
import io.heddle.platform.FileStatus;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import io.heddle.platform.OpenFolder;
import io.heddle.platform.SystemCallException;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.function.Function;

/**
 * The socket that {@code heddle bgp show} asks: a line of question, a JSON document, the end. A
 * virtual thread per question.
 */
public final class BgpSocket implements AutoCloseable {
  private final Path path;
  private final ServerSocketChannel server;

  private BgpSocket(Path path, ServerSocketChannel server) {
    this.path = path;
    this.server = server;
  }

  /**
   * @throws HeddleException when the socket can't be made
   */
  static BgpSocket listen(Path path, Function<String, Object> answers, Log log) {
    try {
      Path folder = path.toAbsolutePath().getParent();
      if (folder != null) {
        Files.createDirectories(folder);
      }
      makeRoom(path.toAbsolutePath());
      ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
      server.bind(UnixDomainSocketAddress.of(path));
      Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-rw-rw-"));
      BgpSocket socket = new BgpSocket(path, server);
      Thread.ofVirtual().start(() -> socket.serve(answers, log));
      return socket;
    } catch (IOException failure) {
      throw new HeddleException(
          "the socket "
              + path
              + " can't be made: "
              + FileFailure.reason(failure)
              + "; \"control\" in the configuration names another",
          failure);
    }
  }

  /*
   * The routes file's lock has told already that no other daemon uses what is there. Where others could replace the
   * socket, the rights that it is given would be given to what they put in its place.
   */
  private static void makeRoom(Path path) throws IOException {
    try (OpenFolder folder = OpenFolder.around(path)) {
      if (!folder.isSafe()) {
        throw new IOException(
            folder.path()
                + " is "
                + folder.status().describe()
                + ", not this user's or root's alone");
      }
      FileStatus there = OpenFolder.look(path);
      if (there != null && !there.isSocket()) {
        throw new IOException("there is " + there.describe());
      }
      folder.remove(path.getFileName().toString());
    } catch (SystemCallException failure) {
      throw new IOException(FileFailure.reason(failure), failure);
    }
  }

  private void serve(Function<String, Object> answers, Log log) {
    while (server.isOpen()) {
      try {
        SocketChannel asker = server.accept();
        Thread.ofVirtual().start(() -> answer(asker, answers));
      } catch (ClosedChannelException closed) {
        return;
      } catch (IOException failure) {
        log.warn("the socket %s answers no more: %s", path, failure);
        return;
      }
    }
  }

  private static void answer(SocketChannel asker, Function<String, Object> answers) {
    try (asker;
        BufferedReader in = new BufferedReader(Channels.newReader(asker, StandardCharsets.UTF_8))) {
      String question = in.readLine();
      if (question != null) {
        write(asker, Json.of(answers.apply(question)));
      }
    } catch (IOException gone) {
      /* Whoever asked didn't wait for the answer. */
    }
  }

  private static void write(SocketChannel to, String text) throws IOException {
    ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    while (bytes.hasRemaining()) {
      to.write(bytes);
    }
  }

  /**
   * Asks the daemon behind a socket.
   *
   * @throws HeddleException when there is none, or it can't answer
   */
  public static String ask(Path path, String question) {
    try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(path))) {
      write(channel, question + "\n");
      channel.shutdownOutput();
      String answer =
          new String(Channels.newInputStream(channel).readAllBytes(), StandardCharsets.UTF_8);
      var failure = Json.mapper().readTree(answer).path("error");
      if (failure.isTextual()) {
        throw new HeddleException("the route daemon: " + failure.asText());
      }
      return answer;
    } catch (IOException failure) {
      throw new HeddleException(
          "no route daemon answers at "
              + path
              + " ("
              + failure.getMessage()
              + "); start one with heddle bgp run, or name its socket with --control",
          failure);
    }
  }

  @Override
  public void close() {
    try {
      server.close();
      Files.deleteIfExists(path);
    } catch (IOException left) {
      /* The next daemon replaces it. */
    }
  }
}

package io.heddle.cli.operate;

import io.heddle.cli.kit.Json;
import io.heddle.platform.FaultTeller;
import io.heddle.platform.FileFailure;
import io.heddle.platform.FileStatus;
import io.heddle.platform.HeddleException;
import io.heddle.platform.LastingThread;
import io.heddle.platform.Log;
import io.heddle.platform.OpenFolder;
import io.heddle.platform.SystemCallException;
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
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * The socket that {@code heddle bgp show} asks: a line of question, a JSON document, the end. A
 * virtual thread per question; everybody on the host may ask, so how many do at a time, how long a
 * question is and how long either side may take have bounds.
 */
public final class BgpSocket implements AutoCloseable {
  static final int MOST_ASKERS = 64;
  static final int LONGEST_QUESTION_BYTES = 1024;
  private static final long QUESTION_LIMIT_NS = 5_000_000_000L;
  private static final long ANSWER_LIMIT_NS = 60_000_000_000L;
  private static final long JUDGED_EVERY_MS = 500;

  private final Path path;
  private final ServerSocketChannel server;
  private final Function<String, Object> answers;
  private final FaultTeller faults;

  /* In order of their coming. */
  private final Set<Asker> askers = new LinkedHashSet<>();

  private BgpSocket(
      Path path, ServerSocketChannel server, Function<String, Object> answers, Log log) {
    this.path = path;
    this.server = server;
    this.answers = answers;
    faults = new FaultTeller("the socket " + path, log);
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
      BgpSocket socket = new BgpSocket(path, server, answers, log);
      new LastingThread("heddle-bgp-socket", log, socket::serve).start();
      new LastingThread("heddle-bgp-patience", log, socket::judge).start();
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

  private boolean serve() throws IOException {
    try {
      SocketChannel channel = server.accept();
      Asker asker = new Asker(channel);
      if (!admit(asker)) {
        channel.close();
      }
      return true;
    } catch (ClosedChannelException closed) {
      return false;
    } catch (IOException failure) {
      /* Out of descriptors, most likely. */
      sendSilentAway();
      throw failure;
    }
  }

  private boolean admit(Asker asker) {
    synchronized (askers) {
      if (askers.size() >= MOST_ASKERS) {
        sendSilentAway();
      }
      if (askers.size() >= MOST_ASKERS) {
        return false;
      }
      askers.add(asker);
    }
    boolean begun = false;
    try {
      Thread.ofVirtual().name("heddle-bgp-question").start(asker);
      begun = true;
    } finally {
      if (!begun) {
        asker.close();
      }
    }
    return true;
  }

  /* Who has asked nothing goes, the one that has waited longest first. */
  private void sendSilentAway() {
    synchronized (askers) {
      askers.stream().filter(each -> !each.asked).findFirst().ifPresent(Asker::close);
    }
  }

  private boolean judge() throws InterruptedException {
    long now = System.nanoTime();
    synchronized (askers) {
      for (Asker asker : List.copyOf(askers)) {
        if (now - asker.sinceNs > (asker.asked ? ANSWER_LIMIT_NS : QUESTION_LIMIT_NS)) {
          asker.close();
        }
      }
    }
    TimeUnit.MILLISECONDS.sleep(JUDGED_EVERY_MS);
    return server.isOpen();
  }

  /** Somebody who has connected. */
  private final class Asker implements Runnable, AutoCloseable {
    private final SocketChannel channel;
    private final long sinceNs = System.nanoTime();
    private volatile boolean asked;

    Asker(SocketChannel channel) {
      this.channel = channel;
    }

    @Override
    public void run() {
      try {
        String question = readQuestion();
        asked = true;
        write(channel, Json.of(answerTo(question)));
      } catch (IOException gone) {
        /* Whoever asked didn't wait for the answer, or not long enough for a question. */
      } catch (Throwable thrown) {
        FaultTeller.makeRoom();
        faults.tell("an answer isn't given", thrown);
      } finally {
        close();
      }
    }

    private String readQuestion() throws IOException {
      ByteBuffer bytes = ByteBuffer.allocate(LONGEST_QUESTION_BYTES);
      while (bytes.hasRemaining()) {
        int from = bytes.position();
        int count = channel.read(bytes);
        for (int i = from; i < bytes.position(); i++) {
          if (bytes.get(i) == '\n') {
            return new String(bytes.array(), 0, i, StandardCharsets.UTF_8);
          }
        }
        if (count < 0) {
          return new String(bytes.array(), 0, bytes.position(), StandardCharsets.UTF_8);
        }
      }
      throw new IOException("a question of more than " + LONGEST_QUESTION_BYTES + " bytes");
    }

    private Object answerTo(String question) {
      try {
        return answers.apply(question);
      } catch (RuntimeException | Error failed) {
        faults.tell("\"" + question + "\" can't be answered", failed);
        return Map.of("error", "it can't be answered: " + failed);
      }
    }

    @Override
    public void close() {
      synchronized (askers) {
        askers.remove(this);
      }
      try {
        channel.close();
      } catch (IOException alreadyBroken) {
        /* It is closed either way. */
      }
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

package io.heddle.cli.kit;

import io.heddle.platform.FaultReporter;
import io.heddle.platform.FileFailure;
import io.heddle.platform.FileStatus;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import io.heddle.platform.OpenFolder;
import io.heddle.platform.ResilientThread;
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
 * The socket at which a daemon answers: a line of question, a JSON document, the end. A virtual
 * thread per question. How many ask at a time, how long a question is and how long either side may
 * take have bounds, since everybody on the host may be allowed to ask.
 */
public final class QuestionSocket implements AutoCloseable {
  public static final int MOST_ASKERS = 64;
  public static final int LONGEST_QUESTION_BYTES = 1024;
  private static final long QUESTION_LIMIT_NS = 5_000_000_000L;
  private static final long ANSWER_LIMIT_NS = 60_000_000_000L;
  private static final long JUDGED_EVERY_MS = 500;

  /**
   * Whose socket it is.
   *
   * @param threads what the names of its threads begin with
   * @param called what it is, for messages
   * @param start the command that starts it
   * @param rights of the socket's file, as {@code rw-------}
   */
  public record Daemon(String threads, String called, String start, String rights) {}

  private final Path path;
  private final String questions;
  private final ServerSocketChannel server;
  private final Function<String, Object> answers;
  private final FaultReporter faults;

  /* In order of their coming. */
  private final Set<Asker> askers = new LinkedHashSet<>();

  private QuestionSocket(
      Daemon daemon,
      Path path,
      ServerSocketChannel server,
      Function<String, Object> answers,
      Log log) {
    this.path = path;
    questions = daemon.threads + "-question";
    this.server = server;
    this.answers = answers;
    faults = new FaultReporter("the socket " + path, log);
  }

  /**
   * @throws HeddleException when the socket can't be made
   */
  public static QuestionSocket listen(
      Daemon daemon, Path path, Function<String, Object> answers, Log log) {
    try {
      Path folder = path.toAbsolutePath().getParent();
      if (folder != null) {
        Files.createDirectories(folder);
      }
      makeRoom(path.toAbsolutePath());
      ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
      server.bind(UnixDomainSocketAddress.of(path));
      Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(daemon.rights));
      QuestionSocket socket = new QuestionSocket(daemon, path, server, answers, log);
      new ResilientThread(daemon.threads + "-socket", log, socket::serve).start();
      new ResilientThread(daemon.threads + "-patience", log, socket::judge).start();
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
   * The daemon has made sure that no other one uses what is there (DaemonStart, or a lock of its
   * own). Where others could replace the socket, the rights that it is given would be given to what
   * they put in its place.
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
      Thread.ofVirtual().name(questions).start(asker);
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
        FaultReporter.releaseReserve();
        faults.report("an answer isn't given", thrown);
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
        faults.report("\"" + question + "\" can't be answered", failed);
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
  public static String ask(Daemon daemon, Path path, String question) {
    try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(path))) {
      write(channel, question + "\n");
      channel.shutdownOutput();
      String answer =
          new String(Channels.newInputStream(channel).readAllBytes(), StandardCharsets.UTF_8);
      var failure = Json.mapper().readTree(answer).path("error");
      if (failure.isTextual()) {
        throw new HeddleException("the " + daemon.called + ": " + failure.asText());
      }
      return answer;
    } catch (IOException failure) {
      throw new HeddleException(
          "no "
              + daemon.called
              + " answers at "
              + path
              + " ("
              + failure.getMessage()
              + "); start one with "
              + daemon.start
              + ", or name its socket with --control",
          failure);
    }
  }

  @Override
  public void close() {
    try {
      /* In this order: once nobody listens, another daemon may put its socket there. */
      Files.deleteIfExists(path);
      server.close();
    } catch (IOException left) {
      /* The next daemon replaces it. */
    }
  }
}

package io.heddle.daemon;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
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
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * Control socket of a daemon. Protocol: the client sends one line, the daemon answers with one JSON
 * document and closes. Each request runs on a virtual thread of its own. The number of clients, the
 * length of a request, and the times for request and answer are limited, because every user of the
 * host may connect.
 */
public final class ControlSocket implements AutoCloseable {
  public static final int MAX_CLIENTS = 64;
  public static final int MAX_REQUEST_BYTES = 1024;
  private static final long REQUEST_LIMIT_NS = 5_000_000_000L;
  private static final long ANSWER_LIMIT_NS = 60_000_000_000L;
  private static final long CHECK_INTERVAL_MS = 500;

  /* Longest path in a socket address (unix(7)), without the zero byte at its end. */
  static final int MOST_PATH_BYTES = 107;

  private static final String ERROR = "error";
  private static final ObjectMapper JSON = new ObjectMapper();

  /**
   * Daemon that owns a socket.
   *
   * @param threads prefix of the names of the socket's threads
   * @param called name of the daemon in messages
   * @param start command that starts the daemon
   * @param rights permissions of the socket's file, such as {@code rw-------}
   */
  public record Daemon(String threads, String called, String start, String rights) {}

  private final Path path;
  private final String threadName;
  private final ServerSocketChannel server;
  private final Function<String, String> answers;
  private final FaultReporter faults;

  /* Connected clients, in the order in which they connected. */
  private final Set<Client> clients = new LinkedHashSet<>();

  private ControlSocket(
      Daemon daemon,
      Path path,
      ServerSocketChannel server,
      Function<String, String> answers,
      Log log) {
    this.path = path;
    threadName = daemon.threads + "-request";
    this.server = server;
    this.answers = answers;
    faults = new FaultReporter("the socket " + path, log);
  }

  /**
   * Opens the socket.
   *
   * @param answers function that returns the JSON document for a request, or throws a {@link
   *     HeddleException} that the client gets as an error
   * @throws HeddleException if the socket can't be created
   */
  public static ControlSocket listen(
      Daemon daemon, Path path, Function<String, String> answers, Log log) {
    try {
      OpenFolder.createAbove(path);
      removeStaleSocket(path.toAbsolutePath());
      ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
      server.bind(UnixDomainSocketAddress.of(path));
      Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(daemon.rights));
      ControlSocket socket = new ControlSocket(daemon, path, server, answers, log);
      new ResilientThread(daemon.threads + "-socket", log, socket::serve).start();
      new ResilientThread(daemon.threads + "-patience", log, socket::evictLate).start();
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
   * Removes the socket of an ended daemon. The caller has made sure that no running daemon uses it
   * (DaemonStart, or the daemon's own lock). Refuses a folder to which other users may write: they
   * could put another file in the socket's place, which would get the socket's permissions.
   */
  private static void removeStaleSocket(Path path) throws IOException {
    try (OpenFolder folder = OpenFolder.parentOf(path)) {
      if (!folder.isSafe()) {
        throw new IOException(
            folder.path()
                + " is "
                + folder.status().describe()
                + ", not this user's or root's alone");
      }
      FileStatus there = OpenFolder.statusOf(path);
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
      Client client = new Client(channel);
      if (!admit(client)) {
        channel.close();
      }
      return true;
    } catch (ClosedChannelException closed) {
      return false;
    } catch (IOException failure) {
      /* The process has probably used up its file descriptors; evicting a client frees one. */
      evictSilent();
      throw failure;
    }
  }

  private boolean admit(Client client) {
    synchronized (clients) {
      if (clients.size() >= MAX_CLIENTS) {
        evictSilent();
      }
      if (clients.size() >= MAX_CLIENTS) {
        return false;
      }
      clients.add(client);
    }
    boolean begun = false;
    try {
      Thread.ofVirtual().name(threadName).start(client);
      begun = true;
    } finally {
      if (!begun) {
        client.close();
      }
    }
    return true;
  }

  /* Evicts the client that has been connected longest without a request. */
  private void evictSilent() {
    synchronized (clients) {
      clients.stream().filter(each -> !each.requested).findFirst().ifPresent(Client::close);
    }
  }

  private boolean evictLate() throws InterruptedException {
    long now = System.nanoTime();
    synchronized (clients) {
      for (Client client : List.copyOf(clients)) {
        if (now - client.sinceNs > (client.requested ? ANSWER_LIMIT_NS : REQUEST_LIMIT_NS)) {
          client.close();
        }
      }
    }
    TimeUnit.MILLISECONDS.sleep(CHECK_INTERVAL_MS);
    return server.isOpen();
  }

  /** A connected client. */
  private final class Client implements Runnable, AutoCloseable {
    private final SocketChannel channel;
    private final long sinceNs = System.nanoTime();
    private volatile boolean requested;

    Client(SocketChannel channel) {
      this.channel = channel;
    }

    @Override
    public void run() {
      try {
        String request = readRequest();
        requested = true;
        write(channel, handle(request));
      } catch (IOException gone) {
        /* The client closed the connection, or was evicted for slowness. */
      } catch (Throwable thrown) {
        FaultReporter.releaseReserve();
        faults.report("an answer can't be sent", thrown);
      } finally {
        close();
      }
    }

    private String readRequest() throws IOException {
      ByteBuffer bytes = ByteBuffer.allocate(MAX_REQUEST_BYTES);
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
      throw new IOException("a request of more than " + MAX_REQUEST_BYTES + " bytes");
    }

    private String handle(String request) {
      try {
        return answers.apply(request);
      } catch (HeddleException refused) {
        return error(String.valueOf(refused.getMessage()));
      } catch (RuntimeException | Error failed) {
        faults.report("\"" + request + "\" can't be answered", failed);
        return error("it can't be answered: " + failed);
      }
    }

    @Override
    public void close() {
      synchronized (clients) {
        clients.remove(this);
      }
      try {
        channel.close();
      } catch (IOException alreadyBroken) {
        /* The channel counts as closed even if close fails. */
      }
    }
  }

  private static String error(String text) {
    return JSON.createObjectNode().put(ERROR, text).toString();
  }

  private static void write(SocketChannel to, String text) throws IOException {
    ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    while (bytes.hasRemaining()) {
      to.write(bytes);
    }
  }

  /**
   * Sends a request to the daemon behind a socket and returns the answer.
   *
   * @throws HeddleException if no daemon listens, or if the daemon can't answer
   */
  public static String request(Daemon daemon, Path path, String request) {
    try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(path))) {
      write(channel, request + "\n");
      channel.shutdownOutput();
      String answer =
          new String(Channels.newInputStream(channel).readAllBytes(), StandardCharsets.UTF_8);
      JsonNode failure = JSON.readTree(answer).path(ERROR);
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
    try (server) {
      /*
       * The file must go first: once the socket is closed, another daemon may put its own file
       * there.
       */
      Files.deleteIfExists(path);
    } catch (IOException left) {
      /* If the file couldn't be deleted, the next daemon replaces it. */
    }
  }
}

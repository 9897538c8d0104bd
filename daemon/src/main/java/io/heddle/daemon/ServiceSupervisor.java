package io.heddle.daemon;

import io.heddle.platform.Errno;
import io.heddle.platform.HeddleException;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.Log;
import io.heddle.platform.Memory;
import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Client of systemd's notification socket (sd_notify(3)): sends datagrams to the path in
 * NOTIFY_SOCKET, or to an abstract name after {@code @}. Without that variable it sends nothing.
 * Java has no AF_UNIX datagrams, so it uses system calls. Any thread may call it.
 */
public final class ServiceSupervisor {
  private static final String SOCKET = "NOTIFY_SOCKET";
  private static final String WATCHDOG_US = "WATCHDOG_USEC";
  private static final String WATCHDOG_PROCESS = "WATCHDOG_PID";
  private static final int AF_UNIX = 1;
  private static final int SOCK_DGRAM_CLOEXEC = 2 | 0x80000;
  private static final int MSG_NOSIGNAL = 0x4000;
  private static final int MOST_NAME_BYTES = 107;
  private static final long US_NS = 1000;

  private final @Nullable String socket;
  private final long watchdogNs;
  private final Log log;
  private boolean warned;

  private ServiceSupervisor(@Nullable String socket, long watchdogNs, Log log) {
    this.socket = socket;
    this.watchdogNs = watchdogNs;
    this.log = log;
  }

  /** Returns the client of the supervisor that started this process. */
  public static ServiceSupervisor ofThisProcess(Log log) {
    return of(System.getenv(), ProcessHandle.current().pid(), log);
  }

  /**
   * Returns the client that these environment variables describe.
   *
   * @param process number of this process; the watchdog is ignored if WATCHDOG_PID names another
   *     process
   * @throws HeddleException for variables that systemd wouldn't set
   */
  public static ServiceSupervisor of(Map<String, String> environment, long process, Log log) {
    String socket = environment.get(SOCKET);
    if (socket == null || socket.isEmpty()) {
      return new ServiceSupervisor(null, 0, log);
    }
    boolean abstractName = socket.startsWith("@");
    int bytes = socket.getBytes(StandardCharsets.UTF_8).length;
    if (!abstractName && !socket.startsWith("/") || bytes > MOST_NAME_BYTES) {
      throw new HeddleException(
          SOCKET + "=" + socket + " is neither a path nor a name with @, of 107 bytes at most");
    }
    String us = environment.get(WATCHDOG_US);
    String whose = environment.get(WATCHDOG_PROCESS);
    boolean meant = us != null && (whose == null || whose.equals(Long.toString(process)));
    try {
      return new ServiceSupervisor(socket, meant ? Long.parseLong(us) * US_NS : 0, log);
    } catch (NumberFormatException none) {
      throw new HeddleException(WATCHDOG_US + "=" + us + " is no number", none);
    }
  }

  /**
   * Returns whether systemd, or another supervisor, started this process with a notification
   * socket.
   */
  public boolean exists() {
    return socket != null;
  }

  /**
   * Returns the time without {@link #notifyWatchdog} after which systemd ends the daemon; 0 for no
   * limit.
   */
  public long watchdogNs() {
    return watchdogNs;
  }

  /** Reports that the daemon is ready: after its start, or after {@link #reloading}. */
  public void ready(String status) {
    report("READY=1\nSTATUS=" + line(status));
  }

  /** Reports the daemon's state, which {@code systemctl status} shows as one line. */
  public void status(String status) {
    report("STATUS=" + line(status));
  }

  /** Reports that the daemon reads its configuration again, until {@link #ready}. */
  public void reloading() {
    /* On Linux System.nanoTime is CLOCK_MONOTONIC, which systemd requires. */
    report("RELOADING=1\nMONOTONIC_USEC=" + System.nanoTime() / US_NS);
  }

  /** Reports that the daemon ends. */
  public void stopping() {
    report("STOPPING=1");
  }

  /** Reports that the daemon is alive, which restarts the watchdog's time. */
  public void notifyWatchdog() {
    report("WATCHDOG=1");
  }

  private static String line(String text) {
    return text.replace('\n', ' ');
  }

  private void report(String words) {
    String name = socket;
    if (name == null) {
      return;
    }
    int result = send(name, words.getBytes(StandardCharsets.UTF_8));
    boolean failed = result < 0;
    if (failed && !warned) {
      log.warn("systemd can't be notified at %s: %s", name, Errno.describe(-result));
    }
    warned = failed;
  }

  /*
   * Sends one message; returns 0 or more, or a negative errno. Each message has a socket of its
   * own, since systemd may restart between two messages.
   */
  private static int send(String name, byte[] words) {
    int fd = LinuxCalls.socket(AF_UNIX, SOCK_DGRAM_CLOEXEC, 0);
    if (fd < 0) {
      return fd;
    }
    try (Arena arena = Arena.ofConfined()) {
      byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
      if (name.startsWith("@")) {
        bytes[0] = 0;
      }
      long address = Memory.allocate(arena, Short.BYTES + MOST_NAME_BYTES + 1L, 8);
      Memory.ALL.set(Memory.NATIVE_SHORT, address, (short) AF_UNIX);
      put(address + Short.BYTES, bytes);
      int connected = LinuxCalls.connect(fd, address, Short.BYTES + bytes.length);
      if (connected < 0) {
        return connected;
      }
      long message = Memory.allocate(arena, words.length, 8);
      put(message, words);
      return (int)
          LinuxCalls.send(LinuxCalls.errnoCapture(), fd, message, words.length, MSG_NOSIGNAL);
    } finally {
      LinuxCalls.close(fd);
    }
  }

  private static void put(long at, byte[] bytes) {
    for (int i = 0; i < bytes.length; i++) {
      Memory.ALL.set(java.lang.foreign.ValueLayout.JAVA_BYTE, at + i, bytes[i]);
    }
  }
}

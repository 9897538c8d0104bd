package io.heddle.bgp.net;

import io.heddle.platform.Errno;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.Memory;
import io.heddle.platform.SystemCallException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Non-blocking TCP socket over IPv6, or over IPv4 by mapped addresses. It uses system calls,
 * because Java's sockets support no MD5 key, hop limit or device. For the loop's thread.
 */
public final class TcpSocket implements AutoCloseable {
  /** Result of {@link #read} and {@link #write} if the call would block. */
  public static final int WOULD_BLOCK = 0;

  private static final int SOCK_STREAM_CLOEXEC_NONBLOCK = 1 | 0x80000 | 0x800;
  private static final int SOCK_CLOEXEC_NONBLOCK = 0x80000 | 0x800;
  private static final int SOL_SOCKET = 1;
  private static final int SO_REUSEADDR = 2;
  private static final int SO_ERROR = 4;
  private static final int SO_BINDTODEVICE = 25;
  private static final int SOL_TCP = 6;
  private static final int TCP_NODELAY = 1;
  private static final int TCP_MD5SIG = 14;
  private static final int TCP_USER_TIMEOUT = 18;
  private static final int SOL_IP = 0;
  private static final int IP_TOS = 1;
  private static final int IP_TTL = 2;
  private static final int IP_MINTTL = 21;
  private static final int SOL_IPV6 = 41;
  private static final int IPV6_UNICAST_HOPS = 16;
  private static final int IPV6_V6ONLY = 26;
  private static final int IPV6_MINHOPCOUNT = 73;
  private static final int IPV6_TCLASS = 67;
  /* CS6, which routers use for routing protocols (RFC 4594). */
  private static final int NETWORK_CONTROL = 0xc0;
  private static final int MSG_NOSIGNAL = 0x4000;
  private static final int BACKLOG = 64;
  /* struct tcp_md5sig: address 128, flags 1, prefix length 1, key length 2, interface 4, key 80. */
  private static final int MD5SIG_BYTES = 216;
  private static final int MD5SIG_KEY_LENGTH_AT = 130;
  private static final int MD5SIG_KEY_AT = 136;

  private final EventLoop loop;
  private final int fd;
  private final boolean ipv4;
  private boolean closed;

  private TcpSocket(EventLoop loop, int fd, boolean ipv4) {
    this.loop = loop;
    this.fd = fd;
    this.ipv4 = ipv4;
  }

  /**
   * Starts to connect; the socket becomes writable when the attempt has succeeded or failed.
   *
   * @param local source address, null for the kernel's choice
   * @throws SystemCallException if the attempt failed at once
   */
  public static TcpSocket connect(
      EventLoop loop, @Nullable Endpoint local, Endpoint remote, TcpOptions options) {
    TcpSocket socket = create(loop, remote.isIpv4());
    try {
      socket.configure(options);
      socket.setMd5Key(remote, options.md5Key());
      if (local != null) {
        socket.check("bind to " + local, socket.callWithAddress(local, true));
      }
      int result = socket.callWithAddress(remote, false);
      if (result != -Errno.EINPROGRESS) {
        socket.check("connect to " + remote, result);
      }
      return socket;
    } catch (RuntimeException failure) {
      socket.close();
      throw failure;
    }
  }

  /**
   * Opens a listening socket.
   *
   * @throws SystemCallException if the address is in use or belongs to another host
   */
  public static TcpSocket listen(EventLoop loop, Endpoint local) {
    TcpSocket socket = create(loop, local.isIpv4());
    try {
      LinuxCalls.setIntOption(socket.fd, SOL_SOCKET, SO_REUSEADDR, 1);
      socket.setHops();
      socket.check("bind to " + local, socket.callWithAddress(local, true));
      socket.check("listen on " + local, LinuxCalls.listen(socket.fd, BACKLOG));
      return socket;
    } catch (RuntimeException failure) {
      socket.close();
      throw failure;
    }
  }

  private static TcpSocket create(EventLoop loop, boolean ipv4) {
    int fd = LinuxCalls.socket(Endpoint.AF_INET6, SOCK_STREAM_CLOEXEC_NONBLOCK, 0);
    if (fd < 0) {
      throw new SystemCallException("socket(AF_INET6, SOCK_STREAM)", -fd);
    }
    LinuxCalls.setIntOption(fd, SOL_IPV6, IPV6_V6ONLY, ipv4 ? 0 : 1);
    return new TcpSocket(loop, fd, ipv4);
  }

  /** Returns whether the socket's address family is IPv4. */
  public boolean isIpv4() {
    return ipv4;
  }

  private void setHops() {
    if (ipv4) {
      LinuxCalls.setIntOption(fd, SOL_IP, IP_TTL, 255);
    } else {
      LinuxCalls.setIntOption(fd, SOL_IPV6, IPV6_UNICAST_HOPS, 255);
    }
  }

  /** Accepts the next connection; returns null if none waits. */
  public @Nullable TcpSocket accept() {
    long name = loop.scratch();
    Memory.ALL.set(Memory.NATIVE_INT, name + 64, Endpoint.SOCKADDR_BYTES);
    int accepted = LinuxCalls.accept(fd, name, name + 64, SOCK_CLOEXEC_NONBLOCK);
    if (isOutOfResources(-accepted)) {
      throw new SystemCallException("accept4", -accepted);
    }
    return accepted < 0 ? null : new TcpSocket(loop, accepted, ipv4);
  }

  /*
   * Returns whether an accept failed for lack of resources, so that the connection still waits. Any
   * other error means that this connection is lost.
   */
  private static boolean isOutOfResources(int errno) {
    return errno == Errno.EMFILE || errno == Errno.ENFILE || errno == Errno.ENOMEM;
  }

  /**
   * Sets a connection's options. An accepted socket inherits the MD5 key of its listening socket.
   */
  public void configure(TcpOptions options) {
    LinuxCalls.setIntOption(fd, SOL_TCP, TCP_NODELAY, 1);
    LinuxCalls.setIntOption(
        fd, ipv4 ? SOL_IP : SOL_IPV6, ipv4 ? IP_TOS : IPV6_TCLASS, NETWORK_CONTROL);
    setHops();
    if (options.userTimeoutMs() > 0) {
      LinuxCalls.setIntOption(fd, SOL_TCP, TCP_USER_TIMEOUT, options.userTimeoutMs());
    }
    if (options.minHopLimit() > 0) {
      setMinHopLimit(options.minHopLimit());
    }
    if (!options.device().isEmpty()) {
      byte[] name = options.device().getBytes(StandardCharsets.UTF_8);
      MemorySegment.copy(MemorySegment.ofArray(name), 0, Memory.ALL, loop.scratch(), name.length);
      check(
          "setsockopt(SO_BINDTODEVICE, " + options.device() + ")",
          LinuxCalls.setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, loop.scratch(), name.length));
    }
  }

  /**
   * Drops packets with a smaller hop limit (RFC 5082). An accepted connection inherits the limit of
   * its listening socket. The caller can lower the limit while connections are in use.
   *
   * @param limit least hop limit; 0 for no check
   * @throws SystemCallException if the kernel refuses
   */
  public void setMinHopLimit(int limit) {
    check(
        "setsockopt(%s, %s)".formatted(ipv4 ? "IP_MINTTL" : "IPV6_MINHOPCOUNT", limit),
        ipv4
            ? LinuxCalls.setIntOption(fd, SOL_IP, IP_MINTTL, limit)
            : LinuxCalls.setIntOption(fd, SOL_IPV6, IPV6_MINHOPCOUNT, limit));
  }

  /**
   * Makes the kernel sign segments to an address and check those from it (RFC 2385); an empty key
   * ends that. A listening socket has a key for each of its peers.
   *
   * @throws SystemCallException if the kernel lacks TCP-MD5
   */
  public void setMd5Key(Endpoint remote, byte[] key) {
    long at = loop.scratch();
    Memory.clear(at, MD5SIG_BYTES);
    remote.withPort(0).write(at);
    Memory.ALL.set(Memory.NATIVE_SHORT, at + MD5SIG_KEY_LENGTH_AT, (short) key.length);
    MemorySegment.copy(MemorySegment.ofArray(key), 0, Memory.ALL, at + MD5SIG_KEY_AT, key.length);
    int result = LinuxCalls.setsockopt(fd, SOL_TCP, TCP_MD5SIG, at, MD5SIG_BYTES);
    Memory.clear(at, MD5SIG_BYTES);
    boolean nothingToRemove = key.length == 0 && result < 0;
    if (!nothingToRemove) {
      check("setsockopt(TCP_MD5SIG) for " + remote, result);
    }
  }

  private int callWithAddress(Endpoint endpoint, boolean bind) {
    long at = loop.scratch();
    endpoint.write(at);
    return bind
        ? LinuxCalls.bind(fd, at, Endpoint.SOCKADDR_BYTES)
        : LinuxCalls.connect(fd, at, Endpoint.SOCKADDR_BYTES);
  }

  private void check(String call, int result) {
    if (result < 0) {
      throw new SystemCallException(call, -result);
    }
  }

  /** Returns the result of the connect: 0, or an errno. */
  public int connectError() {
    int error = LinuxCalls.getIntOption(fd, SOL_SOCKET, SO_ERROR);
    return error < 0 ? -error : error;
  }

  public Endpoint localEndpoint() {
    return endpoint(LinuxCalls::getsockname);
  }

  public Endpoint remoteEndpoint() {
    return endpoint(LinuxCalls::getpeername);
  }

  @FunctionalInterface
  private interface NameCall {
    int apply(int fd, long address, long length);
  }

  private Endpoint endpoint(NameCall call) {
    long at = loop.scratch();
    Memory.ALL.set(Memory.NATIVE_INT, at + 64, Endpoint.SOCKADDR_BYTES);
    check("getsockname or getpeername", call.apply(fd, at, at + 64));
    return Endpoint.read(at);
  }

  /**
   * Reads bytes into the array. Returns the number of bytes read, {@link #WOULD_BLOCK}, or a
   * negated errno; −ECONNRESET also if the peer has closed.
   */
  public int read(byte[] into, int at, int most) {
    long got =
        LinuxCalls.recv(
            LinuxCalls.errnoCapture(),
            fd,
            loop.scratch(),
            Math.min(most, EventLoop.SCRATCH_BYTES),
            0);
    if (got > 0) {
      MemorySegment.copy(Memory.ALL, loop.scratch(), MemorySegment.ofArray(into), at, got);
      return (int) got;
    }
    if (got == 0) {
      return -Errno.ECONNRESET;
    }
    return got == -Errno.EAGAIN || got == -Errno.EINTR ? WOULD_BLOCK : (int) got;
  }

  /**
   * Writes bytes. Returns the number that the kernel took, {@link #WOULD_BLOCK}, or a negated
   * errno.
   */
  public int write(byte[] from, int at, int length) {
    int most = Math.min(length, EventLoop.SCRATCH_BYTES);
    MemorySegment.copy(MemorySegment.ofArray(from), at, Memory.ALL, loop.scratch(), most);
    long sent = LinuxCalls.send(LinuxCalls.errnoCapture(), fd, loop.scratch(), most, MSG_NOSIGNAL);
    return sent == -Errno.EAGAIN || sent == -Errno.EINTR ? WOULD_BLOCK : (int) sent;
  }

  public int fd() {
    return fd;
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      loop.unregister(fd);
      LinuxCalls.close(fd);
    }
  }
}

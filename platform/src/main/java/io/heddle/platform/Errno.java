package io.heddle.platform;

/** Errno values that Heddle distinguishes (asm-generic/errno-base.h, asm-generic/errno.h). */
public final class Errno {
  public static final int EPERM = 1;
  public static final int ENOENT = 2;
  public static final int EINTR = 4;
  public static final int EIO = 5;
  public static final int EBADF = 9;
  public static final int EAGAIN = 11;
  public static final int ENOMEM = 12;
  public static final int EACCES = 13;
  public static final int EFAULT = 14;
  public static final int EBUSY = 16;
  public static final int EEXIST = 17;
  public static final int ENODEV = 19;
  public static final int ENOTDIR = 20;
  public static final int EISDIR = 21;
  public static final int EINVAL = 22;
  public static final int ENFILE = 23;
  public static final int EMFILE = 24;
  public static final int ENOSPC = 28;
  public static final int EROFS = 30;
  public static final int ENOSYS = 38;
  public static final int ELOOP = 40;
  public static final int ENODATA = 61;
  public static final int EMSGSIZE = 90;
  public static final int EPROTONOSUPPORT = 93;
  public static final int EOPNOTSUPP = 95;
  public static final int EAFNOSUPPORT = 97;
  public static final int EADDRINUSE = 98;
  public static final int EADDRNOTAVAIL = 99;
  public static final int ENETDOWN = 100;
  public static final int ENETUNREACH = 101;
  public static final int ENOBUFS = 105;
  public static final int ENOTCONN = 107;
  public static final int ETIMEDOUT = 110;
  public static final int ECONNREFUSED = 111;
  public static final int ECONNRESET = 104;
  public static final int EHOSTUNREACH = 113;
  public static final int EINPROGRESS = 115;
  public static final int EDQUOT = 122;

  private Errno() {}

  /**
   * Returns name and number, such as {@code EINVAL (22)}. For an unknown value, the name is {@code
   * errno}. For EMFILE, the text includes the limit of open files.
   */
  public static String describe(int errno) {
    String name =
        switch (errno) {
          case EPERM -> "EPERM";
          case ENOENT -> "ENOENT";
          case EINTR -> "EINTR";
          case EIO -> "EIO";
          case EBADF -> "EBADF";
          case EAGAIN -> "EAGAIN";
          case ENOMEM -> "ENOMEM";
          case EACCES -> "EACCES";
          case EFAULT -> "EFAULT";
          case EBUSY -> "EBUSY";
          case EEXIST -> "EEXIST";
          case ENODEV -> "ENODEV";
          case ENOTDIR -> "ENOTDIR";
          case EISDIR -> "EISDIR";
          case EINVAL -> "EINVAL";
          case ENFILE -> "ENFILE";
          case EMFILE -> "EMFILE";
          case ENOSPC -> "ENOSPC";
          case EROFS -> "EROFS";
          case ENOSYS -> "ENOSYS";
          case ELOOP -> "ELOOP";
          case ENODATA -> "ENODATA";
          case EMSGSIZE -> "EMSGSIZE";
          case EPROTONOSUPPORT -> "EPROTONOSUPPORT";
          case EOPNOTSUPP -> "EOPNOTSUPP";
          case EAFNOSUPPORT -> "EAFNOSUPPORT";
          case EADDRINUSE -> "EADDRINUSE";
          case EADDRNOTAVAIL -> "EADDRNOTAVAIL";
          case ENETDOWN -> "ENETDOWN";
          case ENETUNREACH -> "ENETUNREACH";
          case ENOBUFS -> "ENOBUFS";
          case ENOTCONN -> "ENOTCONN";
          case ETIMEDOUT -> "ETIMEDOUT";
          case ECONNREFUSED -> "ECONNREFUSED";
          case ECONNRESET -> "ECONNRESET";
          case EHOSTUNREACH -> "EHOSTUNREACH";
          case EINPROGRESS -> "EINPROGRESS";
          case EDQUOT -> "EDQUOT";
          default -> "errno";
        };
    String known = name + " (" + errno + ")";
    return errno == EMFILE ? known + ": " + OpenFiles.describeLimit() : known;
  }

  /**
   * Returns the usual cause and the remedy if the errno is one with which the kernel refuses a kind
   * of system call (ENOSYS, EPERM, EAFNOSUPPORT). The result is a sentence with a leading space;
   * for other errno values, it is empty.
   */
  public static String causeOfRefusal(int errno) {
    return switch (errno) {
      case ENOSYS, EPERM ->
          " A filter of system calls may refuse it: allow it (systemd: SystemCallFilter=,"
              + " containers: their seccomp profile).";
      case EAFNOSUPPORT ->
          " The kernel lacks this kind of socket, or a filter refuses it: for a service of systemd"
              + " name it in RestrictAddressFamilies=, for a container allow it in its seccomp"
              + " profile.";
      default -> "";
    };
  }
}

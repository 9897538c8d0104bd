package io.heddle.bridge.config;

import io.heddle.bridge.multicast.MgidFormat;
import io.heddle.bridge.peer.BeaconKey;
import io.heddle.bridge.peer.PeerSettings;
import io.heddle.platform.FileFailure;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.verbs.Gid;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Parser of a {@code redundancy} line, which configures redundancy among several bridges. */
final class RedundancyLine {
  private static final List<String> KEYS =
      List.of("bridge-id", "priority", "weight", "beacon", "reserve", "key-file", "group", "port");
  private static final int MOST_ID = 65_535;
  private static final int MOST_PRIORITY = 255;
  private static final int MOST_WEIGHT = 100;
  private static final int LEAST_INTERVAL_MS = 20;
  private static final int MOST_INTERVAL_MS = 10_000;
  private static final int MOST_PORT = 65_535;
  private static final Set<PosixFilePermission> OTHERS =
      Set.of(
          PosixFilePermission.OTHERS_READ,
          PosixFilePermission.OTHERS_WRITE,
          PosixFilePermission.GROUP_WRITE);

  private RedundancyLine() {}

  /**
   * @param address parses an address, or throws {@link IllegalArgumentException}
   */
  static PeerSettings parse(ConfigLine line, Function<String, Gid> address) {
    line.allow(KEYS);
    line.words();
    line.require("bridge-id");
    int id = line.number("bridge-id", 0, 1, MOST_ID);
    int port = line.number("port", PeerSettings.PORT, 1, MOST_PORT);
    if (port == PacketFormat.ROCE_PORT) {
      throw line.fail("port=" + port + " is RoCEv2's; choose another");
    }
    String keyFile = line.text("key-file");
    return new PeerSettings(
        id,
        line.number("priority", PeerSettings.PRIORITY, 0, MOST_PRIORITY),
        line.number("weight", PeerSettings.WEIGHT, 1, MOST_WEIGHT),
        line.get(
            "beacon",
            PeerSettings.INTERVAL_MS,
            "a time from " + LEAST_INTERVAL_MS + "ms to " + MOST_INTERVAL_MS + "ms",
            RedundancyLine::interval),
        line.flag("reserve", false),
        keyFile == null ? "" : keyFile,
        keyFile == null ? null : key(line, keyFile),
        group(line, address),
        port);
  }

  private static int interval(String text) {
    if (!text.endsWith("ms")) {
      throw new IllegalArgumentException("no unit");
    }
    int value = Integer.parseInt(text.substring(0, text.length() - 2));
    if (value < LEAST_INTERVAL_MS || value > MOST_INTERVAL_MS) {
      throw new IllegalArgumentException("out of range");
    }
    return value;
  }

  private static @Nullable Gid group(ConfigLine line, Function<String, Gid> address) {
    String text = line.text("group");
    if (text == null) {
      return null;
    }
    return line.parse(
        "group=" + text,
        text,
        "a multicast address",
        word -> {
          Gid group = address.apply(word);
          if (!MgidFormat.isMulticast(group)) {
            throw new IllegalArgumentException("unicast");
          }
          return group;
        });
  }

  private static BeaconKey key(ConfigLine line, String text) {
    Path file = Path.of(text);
    if (!file.isAbsolute()) {
      throw line.fail("key-file=" + text + " isn't the path of a file");
    }
    try {
      Set<PosixFilePermission> rights = Files.getPosixFilePermissions(file);
      if (rights.stream().anyMatch(OTHERS::contains)) {
        throw line.fail(
            "key-file=" + text + " can be read or changed by others; run chmod 600 on it");
      }
      return new BeaconKey(Files.readAllBytes(file));
    } catch (IOException unreadable) {
      throw line.fail("key-file=" + text + " can't be read: " + FileFailure.reason(unreadable));
    } catch (IllegalArgumentException tooShort) {
      throw line.fail(
          "key-file="
              + text
              + " has less than "
              + BeaconKey.LEAST_BYTES
              + " bytes; head -c 32 /dev/urandom makes one");
    }
  }
}

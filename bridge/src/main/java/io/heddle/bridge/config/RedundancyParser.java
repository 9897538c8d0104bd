package io.heddle.bridge.config;

import io.heddle.bridge.peer.BeaconKey;
import io.heddle.bridge.peer.PeerSettings;
import io.heddle.daemon.ConfigText;
import io.heddle.platform.FileFailure;
import io.heddle.roce.wire.PacketFormat;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Set;

/** Parser of {@code [redundancy]}, which configures redundancy among several bridges. */
final class RedundancyParser {
  private static final Set<PosixFilePermission> OTHERS =
      Set.of(
          PosixFilePermission.OTHERS_READ,
          PosixFilePermission.OTHERS_WRITE,
          PosixFilePermission.GROUP_WRITE);

  private RedundancyParser() {}

  static PeerSettings parse(ConfigText.Section section) {
    int id = section.require(BridgeKeys.BRIDGE_ID);
    int port = section.get(BridgeKeys.PORT);
    if (port == PacketFormat.ROCE_PORT) {
      throw section.refuse(BridgeKeys.PORT, "is RoCEv2's; choose another");
    }
    String keyFile = section.get(BridgeKeys.KEY_FILE);
    return new PeerSettings(
        id,
        section.get(BridgeKeys.PRIORITY),
        section.get(BridgeKeys.WEIGHT),
        section.get(BridgeKeys.BEACON),
        section.get(BridgeKeys.RESERVE),
        keyFile,
        keyFile.isEmpty() ? null : key(section, Path.of(keyFile)),
        section.get(BridgeKeys.BEACON_GROUP),
        port);
  }

  private static BeaconKey key(ConfigText.Section section, Path file) {
    if (!file.isAbsolute()) {
      throw section.refuse(BridgeKeys.KEY_FILE, "isn't the path of a file");
    }
    try {
      Set<PosixFilePermission> rights = Files.getPosixFilePermissions(file);
      if (rights.stream().anyMatch(OTHERS::contains)) {
        throw section.refuse(
            BridgeKeys.KEY_FILE, "can be read or changed by others; run chmod 600 on it");
      }
      return new BeaconKey(Files.readAllBytes(file));
    } catch (IOException unreadable) {
      throw section.refuse(BridgeKeys.KEY_FILE, "can't be read: " + FileFailure.reason(unreadable));
    } catch (IllegalArgumentException tooShort) {
      throw section.refuse(
          BridgeKeys.KEY_FILE,
          "has less than " + BeaconKey.LEAST_BYTES + " bytes; head -c 32 /dev/urandom makes one");
    }
  }
}

package io.heddle.tools.lab;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.heddle.cli.kit.AtomicFile;
import io.heddle.platform.FileFailure;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Folder of one fabric, with its state, and the configuration, log, process ID and control socket
 * of each daemon. Its path is short, since a control socket's path has at most 107 bytes. FRR's
 * user can access it.
 */
final class FabricFolder {
  private static final Path PARENT = Path.of("/run/heddle-lab");
  private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9]{0,11}");
  private static final ObjectMapper MAPPER =
      new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

  private final String name;
  private final Path path;

  FabricFolder(String name) {
    if (!NAME.matcher(name).matches()) {
      throw new LabException(
          "'"
              + name
              + "' can't name a lab: use a lower-case letter, then at most 11 lower-case letters or"
              + " digits");
    }
    this.name = name;
    this.path = PARENT.resolve(name);
  }

  String name() {
    return name;
  }

  Path path() {
    return path;
  }

  Path file(String file) {
    return path.resolve(file);
  }

  boolean exists() {
    return Files.exists(path);
  }

  /** Returns the names of all fabrics that have a folder. */
  static List<String> names() {
    if (!Files.isDirectory(PARENT)) {
      return List.of();
    }
    try (Stream<Path> folders = Files.list(PARENT)) {
      return folders
          .map(folder -> folder.getFileName().toString())
          .filter(text -> NAME.matcher(text).matches())
          .sorted()
          .toList();
    } catch (IOException unreadable) {
      throw new LabException(
          "can't list " + PARENT + ": " + FileFailure.reason(unreadable), unreadable);
    }
  }

  /**
   * Creates the folder atomically.
   *
   * @throws LabException if it already exists
   */
  void create() {
    try {
      Files.createDirectories(PARENT);
      Files.createDirectory(path);
    } catch (FileAlreadyExistsException taken) {
      throw new LabException(
          "a lab named '"
              + name
              + "' already exists; remove it with heddle lab down, or use --name",
          taken);
    } catch (IOException failed) {
      throw new LabException("can't create " + path + ": " + FileFailure.reason(failed), failed);
    }
  }

  void write(String file, String text) {
    try {
      Files.writeString(file(file), text);
    } catch (IOException failed) {
      throw new LabException(
          "can't write " + file(file) + ": " + FileFailure.reason(failed), failed);
    }
  }

  void save(FabricState state) {
    save("state.json", state);
  }

  void save(FabricSwitching switching) {
    save(SwitchesProcess.SETTINGS, switching);
  }

  private void save(String name, Object value) {
    try {
      AtomicFile.write(file(name), MAPPER.writeValueAsString(value));
    } catch (JsonProcessingException impossible) {
      throw new IllegalStateException("records of numbers and texts are JSON", impossible);
    }
  }

  /** Returns the settings by which the switches balance load; null if they don't. */
  @Nullable FabricSwitching switching() {
    try {
      return MAPPER.readValue(
          Files.readString(file(SwitchesProcess.SETTINGS)), FabricSwitching.class);
    } catch (NoSuchFileException none) {
      return null;
    } catch (IOException unreadable) {
      throw new LabException(
          "can't read "
              + file(SwitchesProcess.SETTINGS)
              + " ("
              + FileFailure.reason(unreadable)
              + "); remove the lab with: heddle lab down",
          unreadable);
    }
  }

  /**
   * Reads the state.
   *
   * @throws LabException if there is no such fabric, or its state can't be read
   */
  FabricState load() {
    try {
      return MAPPER.readValue(Files.readString(file("state.json")), FabricState.class);
    } catch (NoSuchFileException missing) {
      String others = String.join(", ", names());
      throw new LabException(
          exists()
              ? "the lab '" + name + "' is incomplete; remove it with: heddle lab down"
              : "there is no lab named '"
                  + name
                  + "'"
                  + (others.isEmpty()
                      ? "; create one with: heddle lab up"
                      : "; there is: " + others),
          missing);
    } catch (IOException unreadable) {
      throw new LabException(
          "can't read "
              + file("state.json")
              + " ("
              + FileFailure.reason(unreadable)
              + "); remove the lab with: heddle lab down",
          unreadable);
    }
  }

  void remove() {
    if (!exists()) {
      return;
    }
    try (Stream<Path> files = Files.walk(path)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException failed) {
      throw new LabException("can't remove " + path + ": " + FileFailure.reason(failed), failed);
    }
  }
}

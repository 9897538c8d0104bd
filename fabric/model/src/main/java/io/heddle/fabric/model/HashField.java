package io.heddle.fabric.model;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;

/** Packet field that a switch may include in its hash. */
public enum HashField {
  SOURCE_ADDRESS("source-address"),
  DESTINATION_ADDRESS("destination-address"),
  PROTOCOL("protocol"),
  SOURCE_PORT("source-port"),
  DESTINATION_PORT("destination-port"),
  /** Queue pair of the destination. Enterprise SONiC and Meta's fabrics include it. */
  QUEUE_PAIR("queue-pair");

  /** Fields that switches usually hash: addresses, protocol and ports. */
  public static final List<HashField> FIVE_TUPLE =
      List.of(SOURCE_ADDRESS, DESTINATION_ADDRESS, PROTOCOL, SOURCE_PORT, DESTINATION_PORT);

  /** Maximum size in bytes of all fields of one flow, reached with IPv6 addresses. */
  static final int MOST_BYTES = 2 * 16 + 2 + 2 + 2 + 4;

  private final String word;

  HashField(String word) {
    this.word = word;
  }

  /** Returns the name of the field in files and tables. */
  public String word() {
    return word;
  }

  /** Returns the names of all fields, in the order of the constants. */
  public static List<String> words() {
    return Arrays.stream(values()).map(HashField::word).toList();
  }

  /** Appends the field in network byte order. Each field starts a new bin of 16 bits. */
  void append(RoceFlow flow, ByteBuffer to) {
    switch (this) {
      case SOURCE_ADDRESS -> to.put(flow.source().getAddress());
      case DESTINATION_ADDRESS -> to.put(flow.destination().getAddress());
      case PROTOCOL -> to.putShort((short) RoceFlow.PROTOCOL);
      case SOURCE_PORT -> to.putShort((short) flow.sourcePort());
      case DESTINATION_PORT -> to.putShort((short) RoceFlow.DESTINATION_PORT);
      case QUEUE_PAIR -> to.putInt(flow.queuePair());
    }
  }
}

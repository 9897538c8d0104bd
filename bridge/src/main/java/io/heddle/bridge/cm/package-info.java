/**
 * The communication manager's messages that a bridge reads and writes (InfiniBand Architecture
 * Specification, volume 1, chapters 12 and 13.4.2), and the table of requests that wait for their
 * replies. Codecs are static and pure; a table is the data thread's.
 */
@NullMarked
package io.heddle.bridge.cm;

import org.jspecify.annotations.NullMarked;

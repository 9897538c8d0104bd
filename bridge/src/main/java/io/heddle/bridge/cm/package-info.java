/**
 * Messages of the communication manager that a bridge reads and writes (InfiniBand Architecture
 * Specification, volume 1, chapters 12 and 13.4.2). Also the table of requests that wait for
 * replies, and the service that exchanges them where queue pair 1 belongs to the kernel. Codecs are
 * static and pure; the table belongs to the data thread.
 */
@NullMarked
package io.heddle.bridge.cm;

import org.jspecify.annotations.NullMarked;

/**
 * What demos between data centres stand on: short commands, certificates, and daemons as processes
 * in network namespaces. A thread that closes ends what runs; no thread of its own.
 */
@NullMarked
package io.heddle.cli.wan.host;

import org.jspecify.annotations.NullMarked;

/**
 * Reports of a gateway, as values. Their names in JSON are those of the YANG module
 * src/main/yang/heddle-dci.yang. In JSON, 64-bit numbers are strings, as RFC 7951 §6.1 requires.
 * The package has no thread.
 */
@NullMarked
package io.heddle.telemetry.report;

import org.jspecify.annotations.NullMarked;

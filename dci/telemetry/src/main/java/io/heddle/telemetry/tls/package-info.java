/**
 * Certificates of both ends, for TLS 1.3 (RFC 8446): each end presents one and verifies the
 * other's.
 */
@NullMarked
package io.heddle.telemetry.tls;

import org.jspecify.annotations.NullMarked;

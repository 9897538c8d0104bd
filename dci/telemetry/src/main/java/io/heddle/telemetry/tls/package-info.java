/**
 * Certificates of both ends, for TLS 1.3 (RFC 8446): each end presents its certificate and verifies
 * the certificate of the other end.
 */
@NullMarked
package io.heddle.telemetry.tls;

import org.jspecify.annotations.NullMarked;

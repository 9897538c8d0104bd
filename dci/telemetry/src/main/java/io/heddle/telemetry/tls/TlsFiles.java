package io.heddle.telemetry.tls;

import io.grpc.netty.shaded.io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.shaded.io.netty.handler.ssl.ClientAuth;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContext;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContextBuilder;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslProvider;
import io.heddle.platform.FileFailure;
import io.heddle.platform.HeddleException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import javax.net.ssl.SSLException;

/**
 * Paths of the PEM files for TLS.
 *
 * @param certificate this end's certificate, with the chain to its authority
 * @param key the certificate's private key, PKCS #8, not encrypted
 * @param authorities certificates of the authorities that may sign the other end's certificate
 */
public record TlsFiles(Path certificate, Path key, Path authorities) {
  private static final String TLS_1_3 = "TLSv1.3";

  /**
   * Creates the server's TLS context, which requires a client certificate signed by one of {@code
   * authorities}.
   *
   * @throws HeddleException if a file is unusable; the message names the file and the reason
   */
  public SslContext server() {
    check();
    try {
      return configured(
          SslContextBuilder.forServer(certificate.toFile(), key.toFile())
              .trustManager(authorities.toFile())
              .clientAuth(ClientAuth.REQUIRE));
    } catch (SSLException | IllegalArgumentException unfit) {
      throw unusable(unfit);
    }
  }

  /**
   * Creates the client's TLS context.
   *
   * @throws HeddleException if a file is unusable; the message names the file and the reason
   */
  public SslContext client() {
    check();
    try {
      return configured(
          SslContextBuilder.forClient()
              .keyManager(certificate.toFile(), key.toFile())
              .trustManager(authorities.toFile()));
    } catch (SSLException | IllegalArgumentException unfit) {
      throw unusable(unfit);
    }
  }

  /*
   * Sets provider and version. The provider is Java's own TLS, since the alternative is a native
   * library of several megabytes.
   */
  private static SslContext configured(SslContextBuilder builder) throws SSLException {
    return GrpcSslContexts.configure(builder, SslProvider.JDK).protocols(TLS_1_3).build();
  }

  private void check() {
    for (Path each : new Path[] {certificate, authorities}) {
      try (InputStream in = Files.newInputStream(each)) {
        for (Certificate one : CertificateFactory.getInstance("X.509").generateCertificates(in)) {
          one.getPublicKey();
        }
      } catch (IOException unreadable) {
        throw new HeddleException(
            "%s can't be read: %s".formatted(each, FileFailure.reason(unreadable)), unreadable);
      } catch (GeneralSecurityException malformed) {
        throw new HeddleException(
            "%s contains no PEM certificate: %s".formatted(each, malformed.getMessage()),
            malformed);
      }
    }
    if (!Files.isReadable(key)) {
      throw new HeddleException(key + " can't be read; name the certificate's private key");
    }
  }

  private HeddleException unusable(Exception why) {
    return new HeddleException(
        "%s and %s can't be used as certificate and key: %s; the key has to be PKCS #8, not encrypted"
            .formatted(certificate, key, why.getMessage()),
        why);
  }
}

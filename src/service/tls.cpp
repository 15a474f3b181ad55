#include "service/tls.hpp"

#include "base/error.hpp"

#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <fstream>
#include <iterator>
#include <string_view>

namespace cuzk::service {

namespace {

struct Free {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
using Certificate = std::unique_ptr<X509, Free>;
using PrivateKey = std::unique_ptr<EVP_PKEY, Free>;

std::string read_file(std::string_view setting, const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  base::require(file.is_open() && !file.bad() && !text.empty(),
                "{}: cannot read {}, or it is empty", setting, path);
  return text;
}

std::unique_ptr<BIO, Free> reader(const std::string& pem) {
  return std::unique_ptr<BIO, Free>(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
}

/// The first certificate of a file, which must be valid today.
Certificate certificate_of(std::string_view setting, const std::string& path,
                           const std::string& pem) {
  Certificate certificate(PEM_read_bio_X509(reader(pem).get(), nullptr, nullptr, nullptr));
  base::require(certificate != nullptr, "{}: {} holds no certificate in PEM", setting, path);
  base::require(X509_cmp_current_time(X509_get0_notAfter(certificate.get())) > 0,
                "{}: the certificate in {} has expired; renew it", setting, path);
  return certificate;
}

grpc::SslServerCredentialsOptions::PemKeyCertPair key_pair(const engine::Config::Daemon& config) {
  const std::string cert = read_file("daemon.tls_cert", config.tls_cert);
  const std::string key = read_file("daemon.tls_key", config.tls_key);
  const Certificate certificate = certificate_of("daemon.tls_cert", config.tls_cert, cert);
  // No passphrase can be asked for: an encrypted key is refused here.
  const PrivateKey private_key(
      PEM_read_bio_PrivateKey(reader(key).get(), nullptr, nullptr, const_cast<char*>("")));
  base::require(private_key != nullptr, "daemon.tls_key: {} holds no unencrypted key in PEM",
                config.tls_key);
  base::require(X509_check_private_key(certificate.get(), private_key.get()) == 1,
                "daemon.tls_key: the key in {} does not belong to the certificate in {}",
                config.tls_key, config.tls_cert);
  return {key, cert};
}

}  // namespace

std::shared_ptr<grpc::ServerCredentials> server_credentials(const engine::Config::Daemon& config) {
  if (config.tls_cert.empty() && config.tls_key.empty()) {
    base::require(config.tls_client_ca.empty(),
                  "daemon.tls_client_ca is set, daemon.tls_cert and daemon.tls_key are not: client "
                  "certificates need a server certificate too");
    return grpc::InsecureServerCredentials();
  }
  base::require(!config.tls_cert.empty() && !config.tls_key.empty(),
                "daemon.tls_cert and daemon.tls_key: set both or neither");
  grpc::SslServerCredentialsOptions options(
      config.tls_client_ca.empty() ? GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE
                                   : GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  options.pem_key_cert_pairs.push_back(key_pair(config));
  if (!config.tls_client_ca.empty()) {
    options.pem_root_certs = read_file("daemon.tls_client_ca", config.tls_client_ca);
    certificate_of("daemon.tls_client_ca", config.tls_client_ca, options.pem_root_certs);
  }
  return grpc::SslServerCredentials(options);
}

std::shared_ptr<grpc::ChannelCredentials> client_credentials(const ClientTls& tls) {
  if (tls.ca.empty() && tls.cert.empty()) return grpc::InsecureChannelCredentials();
  base::require(tls.cert.empty() == tls.key.empty(),
                "--tls-cert and --tls-key: give both or neither");
  grpc::SslCredentialsOptions options;
  if (!tls.ca.empty()) options.pem_root_certs = read_file("--tls-ca", tls.ca);
  if (!tls.cert.empty()) {
    options.pem_cert_chain = read_file("--tls-cert", tls.cert);
    options.pem_private_key = read_file("--tls-key", tls.key);
  }
  return grpc::SslCredentials(options);
}

}  // namespace cuzk::service

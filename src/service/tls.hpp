#pragma once

#include "engine/config.hpp"

#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>

#include <memory>
#include <string>

namespace cuzk::service {

/// The server's side of daemon.tls_cert, tls_key and tls_client_ca: plain text if none is set; with
/// a client CA, only clients with a certificate of it. Throws base::InvalidInput that names the
/// setting and file which cannot be read, is no PEM, has expired, or does not fit the others.
std::shared_ptr<grpc::ServerCredentials> server_credentials(const engine::Config::Daemon& config);

/// The client's side.
struct ClientTls {
  std::string ca;         ///< PEM file of the CA that the server's certificate is of; empty: plain
                          ///< text, or the system's CAs if a certificate is given
  std::string cert, key;  ///< PEM files; empty: none
};
std::shared_ptr<grpc::ChannelCredentials> client_credentials(const ClientTls& tls);

}  // namespace cuzk::service

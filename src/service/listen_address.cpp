#include "service/listen_address.hpp"

#include "base/error.hpp"

#include <arpa/inet.h>
#include <charconv>
#include <netinet/in.h>
#include <sys/un.h>

namespace cuzk::service {

namespace {

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

ListenAddress unix_address(std::string_view path, std::string_view setting) {
  constexpr std::size_t kMaxPath = sizeof(sockaddr_un::sun_path) - 1;
  base::require(!path.empty(), "{}: 'unix:' without a path; write unix:///run/curio/cuzk.sock",
                setting);
  base::require(path.size() <= kMaxPath,
                "{}: socket path '{}' has {} bytes, the system allows {}; use a shorter one",
                setting, path, path.size(), kMaxPath);
  return {.is_unix = true, .path = std::string(path), .host = {}, .port = 0};
}

}  // namespace

bool ListenAddress::is_local() const {
  if (is_unix || host == "localhost") return true;
  in_addr v4{};
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
  in6_addr v6{};
  return inet_pton(AF_INET6, host.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

std::string ListenAddress::grpc_target() const {
  if (is_unix) return "unix:" + path;
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port)
                                             : fmt::format("[{}]:{}", host, port);
}

ListenAddress parse_listen_address(std::string_view text, std::string_view setting) {
  std::string_view rest = text;
  if (take_prefix(rest, "unix://") || take_prefix(rest, "unix:"))
    return unix_address(rest, setting);
  if (!take_prefix(rest, "tcp://") && !take_prefix(rest, "http://")) {
    base::require(rest.find("://") == std::string_view::npos,
                  "{}: '{}' has an unknown scheme; write unix:///path or host:port", setting, text);
  }
  const std::size_t colon = rest.rfind(':');
  base::require(colon != std::string_view::npos && colon > 0,
                "{}: '{}' is no address; write unix:///path, host:port or [IPv6]:port", setting,
                text);
  std::string_view host = rest.substr(0, colon);
  const std::string_view port_text = rest.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else {
    base::require(host.find(':') == std::string_view::npos,
                  "{}: '{}': an IPv6 address stands in brackets, as in [::1]:9820", setting, text);
  }
  std::uint16_t port = 0;
  const auto [end, error] =
      std::from_chars(port_text.data(), port_text.data() + port_text.size(), port);
  base::require(!host.empty() && error == std::errc{} && end == port_text.data() + port_text.size(),
                "{}: '{}' has no port between 0 and 65535", setting, text);
  return {.is_unix = false, .path = {}, .host = std::string(host), .port = port};
}

}  // namespace cuzk::service

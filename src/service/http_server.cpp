#include "service/http_server.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "service/errors.hpp"
#include "service/http_connection.hpp"
#include "service/metrics.hpp"
#include "service/page_files.hpp"
#include "service/status_json.hpp"

#include <httplib.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <mutex>
#include <set>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace cuzk::service {

namespace {

using nlohmann::json;

constexpr std::size_t kThreads = 8;

std::string dump(const json& value) {
  // Ids are whatever a client sent.
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

void answer_ready(const engine::Status& status, httplib::Response& response) {
  response.status = status.ready ? 200 : 503;
  response.set_content((status.ready ? "ready" : status.not_ready_because) + "\n", "text/plain");
}

/// httplib's server with an end to every connection: within the limits of HttpConnection, or by
/// end_connections(). httplib itself would multiply an answer by a request's ranges; they are
/// ignored, as a server may.
class BoundedServer final : public httplib::Server {
 public:
  /// Those that are open, those that wait for a thread and those to come.
  void end_connections() {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    for (const int socket : open_) ::shutdown(socket, SHUT_RDWR);
  }

 private:
  bool process_and_close_socket(socket_t socket) override {
    bool answered = false;
    if (open(socket)) {
      HttpConnection connection(socket, {});
      bool closed = false;
      answered = process_request(connection, true, closed,
                                 [](httplib::Request& request) { request.ranges.clear(); });
      connection.finish();
    }
    close(socket);
    return answered;
  }
  bool open(int socket) {
    const std::lock_guard lock(mutex_);
    if (ending_) return false;
    open_.insert(socket);
    return true;
  }
  void close(int socket) {
    // While locked: its number may belong to another connection as soon as it is closed.
    const std::lock_guard lock(mutex_);
    open_.erase(socket);
    ::close(socket);
  }

  std::mutex mutex_;  // guards what follows
  std::set<int> open_;
  bool ending_ = false;
};

void answer_error(httplib::Response& response, int status, const std::string& text) {
  response.status = status;
  response.set_content(dump({{"error", text}}), "application/json");
}

// Before a body is read: nothing here takes one.
httplib::Server::HandlerResponse refuse_other_methods(const httplib::Request& request,
                                                      httplib::Response& response) {
  using Handling = httplib::Server::HandlerResponse;
  if (request.method == "GET" || request.method == "HEAD") return Handling::Unhandled;
  response.set_header("Allow", "GET, HEAD");
  answer_error(response, 405, request.method + ": only GET and HEAD are answered here");
  return Handling::Handled;
}

/// `tracing` is locked while a trace is made, which takes time and memory.
void add_handlers(httplib::Server& server, EngineApi& api, std::mutex& tracing) {
  server.set_pre_routing_handler(refuse_other_methods);
  server.Get("/status", [&api](const httplib::Request&, httplib::Response& response) {
    response.set_header("Access-Control-Allow-Origin", "*");
    response.set_content(dump(status_json(api.status())), "application/json");
  });
  server.Get("/metrics", [&api](const httplib::Request&, httplib::Response& response) {
    response.set_content(prometheus_text(api.status()), "text/plain; version=0.0.4; charset=utf-8");
  });
  server.Get("/healthz", [](const httplib::Request&, httplib::Response& response) {
    response.set_content("ok\n", "text/plain");
  });
  server.Get("/readyz", [&api](const httplib::Request&, httplib::Response& response) {
    answer_ready(api.status(), response);
  });
  server.Get("/trace", [&](const httplib::Request&, httplib::Response& response) {
    const std::unique_lock lock(tracing, std::try_to_lock);
    if (!lock) {
      response.set_header("Retry-After", "1");
      answer_error(response, 503, "/trace: another one is being made; ask again in a second");
      return;
    }
    response.set_header("Content-Disposition", "attachment; filename=\"cuzk-trace.json\"");
    response.set_content(api.trace_json(), "application/json");
  });
  for (const PageFile& file : page_files()) {
    server.Get(std::string(file.path),
               [&file](const httplib::Request&, httplib::Response& response) {
                 response.set_header("Content-Security-Policy",
                                     "default-src 'none'; script-src 'self'; style-src 'self'; "
                                     "connect-src 'self'; img-src data:");
                 response.set_content(file.content.data(), file.content.size(),
                                      std::string(file.content_type));
               });
  }
  server.set_error_handler([](const httplib::Request& request, httplib::Response& response) {
    if (!response.body.empty()) return;
    const json error = {{"error", request.path + ": there are /, /status, /metrics, /healthz, "
                                                 "/readyz and /trace"}};
    response.set_content(dump(error), "application/json");
  });
  server.set_exception_handler(
      [](const httplib::Request& request, httplib::Response& response, std::exception_ptr error) {
        const engine::EngineError known = to_engine_error(std::move(error));
        base::process_log().error({}, "GET {}: {}", request.path, known.what());
        answer_error(response, 500, known.what());
      });
}

}  // namespace

class HttpServer::Impl {
 public:
  Impl(EngineApi& api, std::string_view address)
      : address_(parse_listen_address(address, "daemon.status_listen")) {
    base::require(!address_.is_unix, "daemon.status_listen: {} is no TCP address; write host:port",
                  address);
    server_.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };  // httplib frees it
    // Not SO_REUSEPORT, httplib's default: a second daemon on the same port must fail.
    server_.set_socket_options([](socket_t socket) {
      const int yes = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    });
    add_handlers(server_, api, tracing_);
    bind(address);
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ~Impl() {
    server_.end_connections();
    server_.stop();
    thread_.join();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  const ListenAddress& address() const { return address_; }

 private:
  void bind(std::string_view address) {
    bool bound = false;
    if (address_.port == 0) {
      const int port = server_.bind_to_any_port(address_.host);
      bound = port > 0;
      address_.port = static_cast<std::uint16_t>(bound ? port : 0);
    } else {
      bound = server_.bind_to_port(address_.host, address_.port);
    }
    base::require(bound,
                  "daemon.status_listen: cannot listen on {}: the address is taken by another "
                  "program, or is none of this machine's",
                  address);
  }

  ListenAddress address_;
  std::mutex tracing_;
  BoundedServer server_;
  std::thread thread_;
};

HttpServer::HttpServer(EngineApi& api, std::string_view address)
    : impl_(std::make_unique<Impl>(api, address)) {}

HttpServer::~HttpServer() = default;

const ListenAddress& HttpServer::address() const { return impl_->address(); }

}  // namespace cuzk::service

#pragma once

#include "cuzk/v1/proving.grpc.pb.h"
#include "service/access.hpp"
#include "service/engine_api.hpp"
#include "service/memory_trim.hpp"
#include "service/waiting_call.hpp"
#include "service/worker_pool.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

namespace cuzk::service {

/// cuzk.v1.ProvingEngine over the engine: translates, decides nothing. Requests are checked, and
/// keys loaded, on threads of their own; every other call answers at once or waits without a
/// thread.
///
/// A request that is refused fails the call, with the engine's code in text and metadata
/// (errors.hpp). A job that was accepted and then failed is a successful call whose answer says
/// FAILED.
class ProvingService final : public v1::ProvingEngine::CallbackService {
 public:
  struct Limits {
    /// Payloads of requests that are being checked or wait for it; beyond it, QUEUE-FULL. Each kind
    /// of PoSt has the same again for itself, so that what can wait keeps out nothing that cannot.
    std::uint64_t unchecked_bytes = std::uint64_t{2} << 30;
    unsigned checkers = 2;  ///< requests checked at once, besides one of at least high priority
    unsigned loaders = 2;   ///< keys loaded at once; dropping one waits for none of them
  };

  /// `api` outlives the service, and the service the server it is registered with.
  ProvingService(EngineApi& api, Access access, Limits limits);
  ~ProvingService() override;

  /// Whom calls are accepted from, from now on.
  void set_access(Access access);
  /// Ends every waiting call with UNAVAILABLE, now that the engine has stopped.
  void end_waits();
  std::size_t waiting() const { return waiting_.count(); }

  grpc::ServerUnaryReactor* SubmitProof(grpc::CallbackServerContext* context,
                                        const v1::SubmitProofRequest* request,
                                        v1::SubmitProofResponse* response) override;
  grpc::ServerUnaryReactor* AwaitProof(grpc::CallbackServerContext* context,
                                       const v1::AwaitProofRequest* request,
                                       v1::AwaitProofResponse* response) override;
  grpc::ServerUnaryReactor* Prove(grpc::CallbackServerContext* context,
                                  const v1::ProveRequest* request,
                                  v1::ProveResponse* response) override;
  grpc::ServerUnaryReactor* CancelProof(grpc::CallbackServerContext* context,
                                        const v1::CancelProofRequest* request,
                                        v1::CancelProofResponse* response) override;
  grpc::ServerUnaryReactor* GetStatus(grpc::CallbackServerContext* context,
                                      const v1::GetStatusRequest* request,
                                      v1::GetStatusResponse* response) override;
  grpc::ServerUnaryReactor* GetMetrics(grpc::CallbackServerContext* context,
                                       const v1::GetMetricsRequest* request,
                                       v1::GetMetricsResponse* response) override;
  grpc::ServerUnaryReactor* PreloadSRS(grpc::CallbackServerContext* context,
                                       const v1::PreloadSrsRequest* request,
                                       v1::PreloadSrsResponse* response) override;
  grpc::ServerUnaryReactor* EvictSRS(grpc::CallbackServerContext* context,
                                     const v1::EvictSrsRequest* request,
                                     v1::EvictSrsResponse* response) override;

 private:
  class Messages;
  class UncheckedBytes;

  grpc::Status authorize(grpc::CallbackServerContext& context) const;
  /// Answers now, on gRPC's thread.
  template <class Work>
  grpc::ServerUnaryReactor* answer(grpc::CallbackServerContext& context, Work work);
  /// Answers from a thread of `pool`.
  template <class Work>
  grpc::ServerUnaryReactor* answer_later(grpc::CallbackServerContext& context, WorkerPool& pool,
                                         int urgency, Work work);
  void check_and_wait(const std::shared_ptr<WaitingCall>& call,
                      std::shared_ptr<v1::ProveRequest> message);

  EngineApi& api_;
  const Limits limits_;
  // Not an atomic pointer: libstdc++ 12 reads that one in a race (its load unlocks relaxed).
  mutable std::mutex access_mutex_;
  std::shared_ptr<const Access> access_;  // guarded by access_mutex_
  /// Of WinningPoSt, of WindowPoSt, of all else.
  std::array<std::atomic<std::uint64_t>, 3> unchecked_bytes_{};
  MemoryTrimmer trimmer_;
  WaitingCalls waiting_;
  std::unique_ptr<Messages> messages_;
  WorkerPool checkers_, loaders_, droppers_;  // last: their tasks use the rest
};

}  // namespace cuzk::service

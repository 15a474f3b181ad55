// What orders gRPC's threads, told to ThreadSanitizer. Debian's gRPC and abseil are not compiled
// for it, so it cannot see their locks, and would take all that gRPC hands from one thread to
// another for a race. Programs of the preset `tsan` have these functions in place of the
// libraries': each calls the library's and says what that orders, and no more, so that races of our
// code on gRPC's threads are still found.

#include <absl/synchronization/mutex.h>
#include <dlfcn.h>
#include <grpc/grpc.h>
#include <grpcpp/support/server_callback.h>
#include <sanitizer/tsan_interface.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

/// The library's function of the same name as one of ours. The pointer to a member that is not
/// virtual begins with its address.
template <class Function>
Function of_library(Function ours) {
  void* address = nullptr;
  std::memcpy(&address, &ours, sizeof(address));
  Dl_info info{};
  if (::dladdr(address, &info) != 0 && info.dli_sname != nullptr) {
    if (void* const theirs = ::dlsym(RTLD_NEXT, info.dli_sname)) {
      std::memcpy(&ours, &theirs, sizeof(theirs));
      return ours;
    }
  }
  std::fputs("grpc_for_tsan.cpp: the libraries lack a function that it stands for\n", stderr);
  std::abort();
}

}  // namespace

// ---- locks: all of gRPC's are absl's

namespace absl {
ABSL_NAMESPACE_BEGIN

void Mutex::Lock() {
  static const auto library = of_library(&Mutex::Lock);
  (this->*library)();
  __tsan_acquire(this);
}

bool Mutex::TryLock() {
  static const auto library = of_library(&Mutex::TryLock);
  const bool locked = (this->*library)();
  if (locked) __tsan_acquire(this);
  return locked;
}

void Mutex::Unlock() {
  static const auto library = of_library(&Mutex::Unlock);
  __tsan_release(this);
  (this->*library)();
}

void CondVar::Wait(Mutex* mutex) {
  static const auto library = of_library(&CondVar::Wait);
  __tsan_release(mutex);
  (this->*library)(mutex);
  __tsan_acquire(mutex);
}

bool CondVar::WaitWithTimeout(Mutex* mutex, Duration timeout) {
  static const auto library = of_library(&CondVar::WaitWithTimeout);
  __tsan_release(mutex);
  const bool timed_out = (this->*library)(mutex, timeout);
  __tsan_acquire(mutex);
  return timed_out;
}

bool CondVar::WaitWithDeadline(Mutex* mutex, Time deadline) {
  static const auto library = of_library(&CondVar::WaitWithDeadline);
  __tsan_release(mutex);
  const bool timed_out = (this->*library)(mutex, deadline);
  __tsan_acquire(mutex);
  return timed_out;
}

ABSL_NAMESPACE_END
}  // namespace absl

// ---- the end of a call: whoever counts its parts down to zero has seen them all. Some of that is
// compiled into the library; what comes next is a function.

namespace grpc::internal {

void ServerCallbackCall::ScheduleOnDone(bool inline_ondone) {
  static const auto library = of_library(&ServerCallbackCall::ScheduleOnDone);
  __tsan_acquire(&callbacks_outstanding_);
  (this->*library)(inline_ondone);
}

}  // namespace grpc::internal

// ---- operations on a call: each goes, under its tag, through queues without locks and a socket

namespace {

// Their addresses stand for the connections between clients and servers of one process: a request
// arrives after it was sent, and so does an answer. Which one it is cannot be told, so every
// request that was sent comes before those that arrive later. Requests say nothing of answers.
char requests, answers;

}  // namespace

extern "C" grpc_call_error grpc_call_start_batch(grpc_call* call, const grpc_op* operations,
                                                 std::size_t count, void* tag, void* reserved) {
  static const auto library = of_library(&grpc_call_start_batch);
  __tsan_release(tag);
  for (std::size_t i = 0; i < count; ++i) {
    if (operations[i].op == GRPC_OP_RECV_STATUS_ON_CLIENT) __tsan_release(&requests);
    if (operations[i].op == GRPC_OP_SEND_STATUS_FROM_SERVER) __tsan_release(&answers);
  }
  return library(call, operations, count, tag, reserved);
}

// Waits for whatever ends next: a server's side.
extern "C" grpc_event grpc_completion_queue_next(grpc_completion_queue* queue,
                                                 gpr_timespec deadline, void* reserved) {
  static const auto library = of_library(&grpc_completion_queue_next);
  const grpc_event event = library(queue, deadline, reserved);
  if (event.type == GRPC_OP_COMPLETE) {
    __tsan_acquire(event.tag);
    __tsan_acquire(&requests);
  }
  return event;
}

// Waits for one tag: the side of a client whose call blocks.
extern "C" grpc_event grpc_completion_queue_pluck(grpc_completion_queue* queue, void* tag,
                                                  gpr_timespec deadline, void* reserved) {
  static const auto library = of_library(&grpc_completion_queue_pluck);
  const grpc_event event = library(queue, tag, deadline, reserved);
  if (event.type == GRPC_OP_COMPLETE) {
    __tsan_acquire(tag);
    __tsan_acquire(&answers);
  }
  return event;
}

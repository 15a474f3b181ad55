#include "base/cuda/emulation.hpp"

#include <ucontext.h>

#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <stdexcept>
#include <vector>

namespace cuzk::base::cuda::emulation {

namespace {

constexpr std::size_t kStackBytes = 256 * 1024;
constexpr std::size_t kExchangeBytes = 64;

enum class State { kReady, kWaitsForWarp, kWaitsForBlock, kEnded };

struct Copy {
  uint4* to;
  const uint4* from;
};
using Copies = std::vector<Copy>;

struct Fibre {
  ucontext_t context;
  std::unique_ptr<char[]> stack;
  State state = State::kEnded;
  unsigned exchanges = 0;  // how many this thread has taken part in; its parity chooses the slot
  Copies copies;           // that wait, of the group that is not closed
  std::deque<Copies> groups;
};

// A lane may run ahead of its warp by one exchange, never by two, so two slots a lane are enough.
struct Warp {
  alignas(16) unsigned char slots[2][32][kExchangeBytes];
};

struct Machine {
  ucontext_t scheduler;
  std::vector<std::unique_ptr<Fibre>> fibres;
  std::vector<Warp> warps;
  std::vector<std::max_align_t> shared;
  const std::function<void()>* body = nullptr;
  Fibre* running = nullptr;
  std::mt19937 coins;
  bool toss() { return coins() % 2 == 0; }
};

Machine& machine() {
  static Machine instance;
  return instance;
}

void suspend(State state) {
  Machine& m = machine();
  m.running->state = state;
  swapcontext(&m.running->context, &m.scheduler);
}

void fibre_main() {
  (*machine().body)();
  suspend(State::kEnded);
}

void start(Fibre& fibre) {
  if (!fibre.stack) fibre.stack = std::make_unique_for_overwrite<char[]>(kStackBytes);
  getcontext(&fibre.context);
  fibre.context.uc_stack.ss_sp = fibre.stack.get();
  fibre.context.uc_stack.ss_size = kStackBytes;
  fibre.context.uc_link = nullptr;
  makecontext(&fibre.context, fibre_main, 0);
  fibre.state = State::kReady;
  fibre.exchanges = 0;
  fibre.copies.clear();
  fibre.groups.clear();
}

// Threads first .. last-1 go on if every one of them waits in `state` or has ended, and at least
// one waits.
bool release(std::vector<std::unique_ptr<Fibre>>& fibres, unsigned first, unsigned last,
             State state) {
  bool any = false;
  for (unsigned t = first; t < last; ++t) {
    if (fibres[t]->state == State::kEnded) continue;
    if (fibres[t]->state != state) return false;
    any = true;
  }
  if (!any) return false;
  for (unsigned t = first; t < last; ++t) {
    if (fibres[t]->state == state) fibres[t]->state = State::kReady;
  }
  return true;
}

void run_block(unsigned block) {
  Machine& m = machine();
  for (unsigned t = 0; t < block; ++t) start(*m.fibres[t]);
  std::memset(m.warps.data(), 0xa5, m.warps.size() * sizeof(Warp));
  std::memset(m.shared.data(), 0xa5, m.shared.size() * sizeof(std::max_align_t));
  for (;;) {
    bool progress = false;
    const bool upwards = m.toss();
    for (unsigned i = 0; i < block; ++i) {
      const unsigned t = upwards ? i : block - 1 - i;
      if (m.fibres[t]->state != State::kReady) continue;
      threadIdx.x = t;
      m.running = m.fibres[t].get();
      swapcontext(&m.scheduler, &m.running->context);
      progress = true;
    }
    for (unsigned first = 0; first < block; first += 32) {
      progress |=
          release(m.fibres, first, first + 32 < block ? first + 32 : block, State::kWaitsForWarp);
    }
    progress |= release(m.fibres, 0, block, State::kWaitsForBlock);
    if (progress) continue;
    for (unsigned t = 0; t < block; ++t) {
      if (m.fibres[t]->state != State::kEnded) {
        throw std::logic_error("emulated kernel: threads of a block wait for different things");
      }
    }
    return;
  }
}

}  // namespace

void run_grid(unsigned grid, unsigned block, std::size_t shared_bytes,
              const std::function<void()>& body) {
  Machine& m = machine();
  while (m.fibres.size() < block) m.fibres.push_back(std::make_unique<Fibre>());
  m.warps.resize((block + 31) / 32);
  m.shared.assign(shared_bytes / sizeof(std::max_align_t) + 1, {});
  m.body = &body;
  m.coins.seed(grid);
  blockDim = {block, 1, 1};
  gridDim = {grid, 1, 1};
  for (unsigned b = 0; b < grid; ++b) {
    blockIdx = {b, 0, 0};
    run_block(block);
  }
}

void wait_for_block() { suspend(State::kWaitsForBlock); }
void wait_for_warp() { suspend(State::kWaitsForWarp); }

std::byte* dynamic_shared() { return reinterpret_cast<std::byte*>(machine().shared.data()); }

void copy_to_shared(uint4* shared, const uint4* global) {
  if (machine().toss()) {
    *shared = *global;
  } else {
    machine().running->copies.push_back({shared, global});
  }
}
void commit_copies() {
  Fibre& fibre = *machine().running;
  fibre.groups.push_back(std::move(fibre.copies));
  fibre.copies.clear();
}
void wait_copies(std::size_t groups) {
  Fibre& fibre = *machine().running;
  for (; fibre.groups.size() > groups; fibre.groups.pop_front()) {
    for (const Copy& copy : fibre.groups.front()) *copy.to = *copy.from;
  }
}

void exchange(const void* mine, void* theirs, std::size_t bytes, unsigned lane) {
  if (bytes > kExchangeBytes) throw std::logic_error("emulated exchange: more than 64 bytes");
  Machine& m = machine();
  const unsigned thread = threadIdx.x, slot = m.running->exchanges++ & 1u;
  Warp& warp = m.warps[thread / 32];
  std::memcpy(warp.slots[slot][thread % 32], mine, bytes);
  wait_for_warp();
  std::memcpy(theirs, warp.slots[slot][lane], bytes);
}

std::uint32_t ballot(bool predicate) {
  Machine& m = machine();
  const unsigned thread = threadIdx.x, slot = m.running->exchanges++ & 1u;
  Warp& warp = m.warps[thread / 32];
  const unsigned char mine = predicate ? 1 : 0;
  std::memcpy(warp.slots[slot][thread % 32], &mine, 1);
  wait_for_warp();
  std::uint32_t result = 0;
  const unsigned first = thread / 32 * 32, last = first + 32 < blockDim.x ? first + 32 : blockDim.x;
  const unsigned round = m.running->exchanges;
  for (unsigned t = first; t < last; ++t) {
    if (m.fibres[t]->exchanges < round) continue;  // ended before this vote
    result |= static_cast<std::uint32_t>(warp.slots[slot][t % 32][0] & 1u) << (t % 32);
  }
  return result;
}

}  // namespace cuzk::base::cuda::emulation

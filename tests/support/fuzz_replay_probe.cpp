// A fuzz target that accepts any input that starts with "ok" and aborts on others: the driver of
// fuzz_replay_main.cpp is tested with it.

#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2 || data[0] != 'o' || data[1] != 'k') std::abort();
  return 0;
}

#pragma once

#include "cli/commands.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

namespace cuzk::cli {

/// What a run of the program left behind.
struct Outcome {
  int status = -1;
  std::string out, err;
};

/// Runs the program in this process: words are its arguments, without the program's name.
inline Outcome run_cuzk(std::vector<std::string> words) {
  words.insert(words.begin(), "cuzk");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  Outcome outcome;
  outcome.status = run(static_cast<int>(argv.size()), argv.data());
  std::fflush(stdout);
  outcome.out = ::testing::internal::GetCapturedStdout();
  outcome.err = ::testing::internal::GetCapturedStderr();
  return outcome;
}

}  // namespace cuzk::cli

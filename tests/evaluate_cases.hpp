#pragma once

#include <string>

namespace cuzk::testing {

/// Evaluates the first partition of an artefact (witness_cases.hpp) with emulated kernels, from the
/// staged witness on, and compares the digests of A·w, B·w and C·w with the golden ones; the
/// queries' bits and scalars with the key's layout.
void expect_device_circuit(const std::string& folder, const std::string& artefact);

}  // namespace cuzk::testing

#include "base/error.hpp"
#include "groth16/cuda/point_transforms.hpp"
#include "groth16/derived_key.hpp"
#include "groth16/setup.hpp"
#include "groth16/testing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <unistd.h>
#include <vector>

namespace cuzk::groth16::cuda {
namespace {

using curve::Fr;
using curve::G1Affine;

void no_progress(double) {}

/// Powers of 5, so that no two are equal.
class SomeFactors final : public PointFactors {
 public:
  void fill(std::size_t first, std::span<Fr> out) const override {
    for (std::size_t i = 0; i < out.size(); ++i) {
      Fr power = Fr::one();
      for (std::size_t k = 0; k < first + i; ++k) power *= Fr::from_u64(5);
      out[i] = power;
    }
  }
};

// Multiples of the generator, some infinite and some equal.
std::vector<G1Affine> some_points(std::size_t count) {
  std::vector<G1Affine> out = testing::multiples<curve::Fp>(count);
  for (std::size_t i = 2; i < count; i += 5) out[i] = G1Affine::identity();
  for (std::size_t i = 4; i < count; i += 7) out[i] = out[i - 1];
  return out;
}

// Domains with as many rows as columns and with twice as many, pieces of one column or row, of
// several, and of everything.
TEST(PointTransformsEmulated, EqualTheHosts) {
  const SomeFactors some;
  for (const unsigned log_n : {1U, 2U, 5U, 6U}) {
    const Domain domain(log_n);
    const auto host = make_cpu_point_transforms(domain);
    for (const std::size_t piece : {std::size_t{1} << (log_n + 1) / 2, std::size_t{24}}) {
      if (piece < std::size_t{1} << (log_n + 1) / 2) continue;
      const auto device = make_point_transforms(domain, piece);
      for (const PointFactors* factors :
           {static_cast<const PointFactors*>(nullptr), static_cast<const PointFactors*>(&some)}) {
        for (const auto direction : {TransformDirection::kInverse, TransformDirection::kForward}) {
          std::vector<G1Affine> expected = some_points(domain.n()), got = expected;
          host->transform(expected, direction, factors, no_progress);
          device->transform(got, direction, factors, no_progress);
          EXPECT_EQ(got, expected) << log_n << ", pieces of " << piece;
        }
      }
    }
  }
}

TEST(PointTransformsEmulated, MultiplesAreAddedToSums) {
  const SomeFactors factors;
  const Domain domain(5);
  const std::vector<G1Affine> points = some_points(29);
  std::vector<G1Affine> expected(points.rbegin(), points.rend()), got = expected;
  make_cpu_point_transforms(domain)->add_multiples(points, factors, expected, no_progress);
  make_point_transforms(domain, 8)->add_multiples(points, factors, got, no_progress);
  EXPECT_EQ(got, expected);
  EXPECT_NE(got, points);
}

// There and back is n times the points: the two directions and their orders belong together.
TEST(PointTransformsEmulated, ThereAndBackIsAMultiple) {
  const Domain domain(4);
  const std::vector<G1Affine> points = some_points(domain.n());
  std::vector<G1Affine> got = points;
  const auto device = make_point_transforms(domain, 4);
  device->transform(got, TransformDirection::kInverse, nullptr, no_progress);
  device->transform(got, TransformDirection::kForward, nullptr, no_progress);
  for (std::size_t i = 0; i < points.size(); ++i)
    EXPECT_EQ(got[i], (points[i] * Fr::from_u64(domain.n())).to_affine());
}

TEST(PointTransformsEmulated, ProgressRises) {
  const Domain domain(6);
  std::vector<double> shares;
  std::vector<G1Affine> points = some_points(domain.n());
  make_point_transforms(domain, 16)
      ->transform(points, TransformDirection::kInverse, nullptr,
                  [&](double share) { shares.push_back(share); });
  EXPECT_EQ(shares.size(), 8U);
  EXPECT_TRUE(std::ranges::is_sorted(shares));
  EXPECT_EQ(shares.back(), 1.0);
}

TEST(PointTransformsEmulated, WhatDoesNotFitIsRefused) {
  EXPECT_THROW(make_point_transforms(Domain(6), 4), base::InvalidInput);
  const auto device = make_point_transforms(Domain(4), 16);
  std::vector<G1Affine> points(15);
  EXPECT_THROW(device->transform(points, TransformDirection::kInverse, nullptr, no_progress),
               base::InvalidInput);
}

std::string read(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// The file that the trapdoor gives, byte by byte.
TEST(PointTransformsEmulated, DerivesTheTrapdoorsKey) {
  const testing::ToyCircuit toy(2);
  const std::filesystem::path folder =
      ::testing::TempDir() + "derive_emulated_" + std::to_string(::getpid());
  std::filesystem::create_directories(folder);
  const SetupFiles files{folder / "params", folder / "vk", folder / "expected"};
  write_keys(toy.shape, Trapdoor::from_seed(4), files);
  const KeyLayout layout(toy.shape, QuotientForm::kDerivative);
  const auto device = make_point_transforms(Domain(layout.domain_log2), 32);
  derive_key(toy.shape, layout, KeyFile(files.params), folder / "derived", *device,
             [](std::string_view, double) {});
  EXPECT_EQ(read(folder / "derived"), read(files.derived));
  EXPECT_GT(read(files.derived).size(), 1000U);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace cuzk::groth16::cuda

#include "groth16/cuda/setup_files.cuh"
#include "groth16/cuda/setup_files.hpp"
#include "groth16/testing.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <unistd.h>

namespace cuzk::groth16::cuda {
namespace {

std::string read(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(SetupFilesEmulated, FilesAreTheHostsByteForByte) {
  const testing::ToyCircuit toy(5);
  const Trapdoor trapdoor = Trapdoor::from_seed(21);
  const std::filesystem::path folder =
      ::testing::TempDir() + "setup_files_" + std::to_string(::getpid());
  std::filesystem::create_directories(folder);
  const SetupFiles host{folder / "host.params", folder / "host.vk", folder / "host.derivative"};
  const SetupFiles device{folder / "device.params", folder / "device.vk",
                          folder / "device.derivative"};
  groth16::write_keys(toy.shape, trapdoor, host);
  write_keys(toy.shape, trapdoor, device, {});
  EXPECT_GT(std::filesystem::file_size(host.params), 1000U);
  EXPECT_EQ(read(device.params), read(host.params));
  EXPECT_EQ(read(device.verifying_key), read(host.verifying_key));
  EXPECT_EQ(read(device.derived), read(host.derived));
  std::filesystem::remove_all(folder);
}

// Zeros in the first place, in the last, in a row; and nothing but zeros.
TEST(SetupFilesEmulated, ZerosAreDroppedWhateverTheChunks) {
  using curve::device::G1;
  const auto base = curve::G1Affine::generator();
  const FixedBaseTable<G1> table(stored<G1>(base), 10, {});
  const std::filesystem::path path =
      ::testing::TempDir() + "multiples_" + std::to_string(::getpid());
  for (const std::vector<unsigned>& numbers : std::vector<std::vector<unsigned>>{
           {0, 5, 0, 0, 7, 8, 9, 0}, {1, 2, 3, 4, 5, 6, 7}, {0, 0, 0}, {}}) {
    std::vector<curve::Fr> scalars;
    for (const unsigned k : numbers) scalars.push_back(curve::Fr::from_u64(k));
    for (const bool drop_zeros : {false, true}) {
      std::string expected(4, '\0');
      for (const curve::Fr& scalar : scalars) {
        if (drop_zeros && scalar.is_zero()) continue;
        ++expected[3];
        const auto bytes = (base * scalar).to_affine().to_uncompressed();
        expected.append(bytes.begin(), bytes.end());
      }
      for (const std::size_t chunk : {1, 2, 3, 100}) {
        ChunkPipe pipe(chunk * sizeof(curve::Fr), {});
        base::FileWriter writer(path);
        setup_files_detail::write_multiples(writer, pipe, table, scalars, drop_zeros);
        writer.commit();
        EXPECT_EQ(read(path), expected) << chunk;
      }
    }
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace cuzk::groth16::cuda

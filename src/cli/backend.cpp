#include "cli/backend.hpp"

#include "base/error.hpp"
#include "filecoin/circuit/circuits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <unistd.h>
#include <utility>

#ifdef CUZK_HAS_CUDA
#include "base/cuda/device.hpp"
#include "base/cuda/stream_ref.hpp"
#include "groth16/cuda/point_transforms.hpp"
#include "groth16/cuda/prover.hpp"
#include "groth16/cuda/setup_files.hpp"
#endif

namespace cuzk::cli {

namespace {

/// The CPU's prover with its key.
class CpuProverWithKey final : public groth16::Prover {
 public:
  CpuProverWithKey(const r1cs::Shape& shape, LoadedKey key)
      : key_(std::move(key)), prover_(groth16::make_cpu_prover({shape, key_.layout, key_.key})) {}

  const groth16::VerifyingKey& verifying_key() const override { return prover_->verifying_key(); }
  std::unique_ptr<Pending> start(const r1cs::Witness& witness, base::StageTimer& timer) override {
    return prover_->start(witness, timer);
  }

 private:
  LoadedKey key_;
  std::unique_ptr<groth16::Prover> prover_;
};

LoadedProver on_cpu(const r1cs::Shape& shape, LoadedKey key) {
  return {.prover = std::make_unique<CpuProverWithKey>(shape, std::move(key)), .description = {}};
}

/// A folder that goes away with the object.
class TemporaryFolder {
 public:
  TemporaryFolder()
      : path_(std::filesystem::temp_directory_path() / ("cuzk-key-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

groth16::QuotientForm development_form(const BackendOptions& options) {
  return parse_quotient(options.quotient) == QuotientChoice::kTextbook
             ? groth16::QuotientForm::kTextbook
             : groth16::QuotientForm::kDerivative;
}

#ifdef CUZK_HAS_CUDA

groth16::cuda::CudaOptions cuda_options(const BackendOptions& options,
                                        filecoin::CircuitKind circuit) {
  return {.ordinal = options.device,
          .lanes = options.lanes,
          .vram_budget = options.vram_budget,
          .group_tables = !options.no_group_tables,
          .overlap = !options.no_overlap,
          .partitions_a_pass = options.partitions_a_pass,
          .complete_witnesses = filecoin::leaves_out_implied(circuit)};
}

LoadedProver on_device(std::unique_ptr<groth16::cuda::CudaProver> prover) {
  LoadedProver out;
  out.lanes = prover->proofs_in_flight();
  out.description = prover->describe();
  out.device_bytes = prover->device_bytes();
  out.prover = std::move(prover);
  return out;
}

bool device_is_there() { return !base::cuda::list_devices().empty(); }

#endif

}  // namespace

BackendOptions BackendOptions::for_partitions(std::size_t count) const {
  BackendOptions out = *this;
  out.partitions_a_pass =
      static_cast<unsigned>(std::clamp<std::size_t>(count, 1, partitions_a_pass));
  return out;
}

void add_device_options(CLI::App& command, BackendOptions& options) {
  command.add_option("--backend", options.backend, "auto, cpu or cuda")->capture_default_str();
  command.add_option("--device", options.device, "Number of the CUDA device")
      ->capture_default_str();
}

void add_backend_options(CLI::App& command, BackendOptions& options) {
  add_device_options(command, options);
  command.add_option("--quotient", options.quotient, "auto, textbook or derivative")
      ->capture_default_str();
  command.add_option("--lanes", options.lanes, "Proofs in flight on the device")
      ->capture_default_str()
      ->check(CLI::Range(1, 16));
  command
      .add_option("--vram-budget", options.vram_budget,
                  "Device memory to use, e.g. 16GiB (default: what is free)")
      ->transform(CLI::AsSizeValue(false));
  command
      .add_option("--partitions-a-pass", options.partitions_a_pass,
                  "Proofs that share a pass over a key that does not fit into device memory")
      ->capture_default_str()
      ->check(CLI::Range(1, 64));
  command.add_flag("--no-group-tables", options.no_group_tables,
                   "Keep the points of bits once, not as tables of groups");
  command.add_flag("--no-overlap", options.no_overlap,
                   "Sum the queries after the quotient, not beside it");
}

std::string_view chosen_backend(const BackendOptions& options) {
  base::require(options.backend == "auto" || options.backend == "cpu" || options.backend == "cuda",
                "--backend {}: auto, cpu and cuda are known", options.backend);
#ifdef CUZK_HAS_CUDA
  if (options.backend == "auto") return device_is_there() ? "cuda" : "cpu";
  return options.backend;
#else
  base::require(options.backend != "cuda",
                "--backend cuda: this build has no CUDA backend (configure with CUZK_CUDA=ON)");
  return "cpu";
#endif
}

LoadedProver load_prover(const KeyPaths& paths, filecoin::CircuitKind circuit,
                         filecoin::SectorSize size, const r1cs::Shape& shape,
                         const BackendOptions& options) {
  const QuotientChoice quotient = parse_quotient(options.quotient);
  if (chosen_backend(options) == "cpu") {
#ifdef CUZK_HAS_CUDA
    if (options.backend == "auto")
      fmt::print(stderr, "cuzk: WARNING: there is no CUDA device: the CPU proves\n");
#endif
    return on_cpu(shape, load_key(paths, circuit, size, shape, quotient));
  }
#ifdef CUZK_HAS_CUDA
  const OpenKey key = open_key(paths, circuit, size, shape, quotient);
  return on_device(groth16::cuda::load_cuda_prover(shape, key.layout, key.file,
                                                   key.derived ? &*key.derived : nullptr,
                                                   cuda_options(options, circuit)));
#else
  return {};
#endif
}

LoadedProver make_development_prover([[maybe_unused]] filecoin::CircuitKind circuit,
                                     const r1cs::Shape& shape, const groth16::Trapdoor& trapdoor,
                                     const BackendOptions& options) {
  groth16::KeyLayout layout(shape, development_form(options));
#ifdef CUZK_HAS_CUDA
  if (chosen_backend(options) == "cuda") {
    return on_device(groth16::cuda::make_development_cuda_prover(shape, layout, trapdoor,
                                                                 cuda_options(options, circuit)));
  }
#endif
  chosen_backend(options);  // complains about what is not there
  const bool derivative = layout.form == groth16::QuotientForm::kDerivative;
  const TemporaryFolder folder;
  const groth16::SetupFiles files{
      folder.path() / "params", folder.path() / "vk",
      derivative ? folder.path() / "derivative" : std::filesystem::path()};
  groth16::write_keys(shape, trapdoor, files);
  const groth16::KeyFile file(files.params);
  groth16::ProvingKey key =
      derivative ? groth16::load_proving_key(file, groth16::DerivedKeyFile(files.derived), layout)
                 : groth16::load_proving_key(file, layout);
  return on_cpu(shape, {std::move(layout), std::move(key)});
}

void write_development_keys(const r1cs::Shape& shape, const groth16::Trapdoor& trapdoor,
                            const groth16::SetupFiles& files, const BackendOptions& options) {
#ifdef CUZK_HAS_CUDA
  if (chosen_backend(options) == "cuda") {
    base::cuda::Device(options.device).make_current();
    return groth16::cuda::write_keys(shape, trapdoor, files, base::cuda::StreamRef{});
  }
#endif
  chosen_backend(options);  // complains about what is not there
  groth16::write_keys(shape, trapdoor, files);
}

std::unique_ptr<groth16::PointTransforms> make_point_transforms(const groth16::Domain& domain,
                                                                const BackendOptions& options) {
#ifdef CUZK_HAS_CUDA
  if (chosen_backend(options) == "cuda") {
    base::cuda::Device(options.device).make_current();
    return groth16::cuda::make_point_transforms(domain);
  }
#endif
  chosen_backend(options);
  return groth16::make_cpu_point_transforms(domain);
}

}  // namespace cuzk::cli

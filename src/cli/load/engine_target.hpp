#pragma once

#include "cli/load/target.hpp"
#include "engine/config.hpp"
#include "engine/proving_device.hpp"

#include <memory>
#include <string>
#include <vector>

namespace cuzk::cli::load {

/// An engine in this process, with a journal in memory. Ready when this returns. `name` stands for
/// it in reports. Throws what engine::Engine throws.
std::unique_ptr<Target> make_engine_target(
    std::string name, const engine::Config& config,
    std::vector<std::unique_ptr<engine::ProvingDevice>> devices);

/// Sets one setting, given as "section.key=value"; a text value may stand without quotes. Throws
/// base::InvalidInput that names the setting.
void set(engine::Config& config, const std::string& assignment);

}  // namespace cuzk::cli::load

#include "support/golden.hpp"
#include "witness_cases.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

// The witness of every golden artefact: public inputs, auxiliary variables, A·w, B·w and C·w.
namespace cuzk {
namespace {

using nlohmann::json;
using testing::ArtefactWitnesses;

struct Case {
  std::string sector;    // folder under sectors/
  std::string artefact;  // porep, winning, window, window-multi, update
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const char* sector : {"2KiB-v1", "2KiB-v1_1", "2KiB-v1_2-synth", "2KiB-v1_2-ni",
                             "16KiB-v1_1", "32KiB-v1_1", "8MiB-v1_1"}) {
    for (const char* artefact : {"porep", "winning", "window", "window-multi", "update"})
      cases.push_back({sector, artefact});
  }
  return cases;
}

class GoldenWitness : public ::testing::TestWithParam<Case> {};

TEST_P(GoldenWitness, EqualsReference) {
  const std::string folder = "sectors/" + GetParam().sector + "/";
  const json golden = testing::golden_json(folder + GetParam().artefact + ".witness.json");
  const json golden_inputs = testing::golden_json(folder + GetParam().artefact + ".inputs.json");
  const ArtefactWitnesses artefact = testing::golden_witnesses(folder, GetParam().artefact);
  ASSERT_EQ(artefact.partitions.size(), golden.at("partitions").size());
  for (std::size_t k = 0; k < artefact.partitions.size(); ++k) {
    SCOPED_TRACE("partition " + std::to_string(k));
    const json& expected = golden.at("partitions")[k];
    EXPECT_TRUE(expected.at("satisfied").get<bool>());
    testing::expect_inputs(golden_inputs.at("partitions")[k], artefact.partitions[k]);
    testing::expect_witness(expected, artefact.shape, artefact.partitions[k]);
  }
  if (!artefact.given.empty()) testing::expect_completion(artefact);
}

std::string case_name(const ::testing::TestParamInfo<Case>& info) {
  std::string name = info.param.sector + "_" + info.param.artefact;
  for (char& c : name) {
    if (c == '-') c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Artefacts, GoldenWitness, ::testing::ValuesIn(all_cases()), case_name);

}  // namespace
}  // namespace cuzk

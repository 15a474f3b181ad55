#include "filecoin/update/public_inputs.hpp"

#include "base/error.hpp"
#include "filecoin/update/randomness.hpp"

namespace cuzk::filecoin::update {

using curve::Fr;

std::vector<Fr> PublicInputs::to_fields() const {
  return {Fr::from_u64(k_and_h_select), comm_r_old, comm_d_new, comm_r_new};
}

PublicInputs public_inputs(const Statement& statement, unsigned k) {
  const UpdateShape shape = update_shape(statement.sector_size);
  base::require(k < shape.partitions, "sector update partition {} for {}: there are {}", k,
                statement.sector_size.to_string(), shape.partitions);
  return {k | h_select(shape, statement.h) << shape.log2_partitions(), statement.comm_r_old,
          statement.comm_d_new, statement.comm_r_new};
}

PublicInputs poseidon_public_inputs(const Statement& statement) {
  return {h_select(update_shape(statement.sector_size), statement.h), statement.comm_r_old,
          statement.comm_d_new, statement.comm_r_new};
}

}  // namespace cuzk::filecoin::update

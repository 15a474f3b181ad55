#pragma once

#include "curve/fr.hpp"

#include <span>
#include <vector>

namespace cuzk::hash {

/// A matrix over Fr as a vector of rows: m[row][column]. Square ones of a handful of rows only;
/// these functions derive constants once and are not tuned.
using Matrix = std::vector<std::vector<curve::Fr>>;

Matrix identity_matrix(std::size_t size);
/// Without row 0 and column 0.
Matrix lower_right(const Matrix& m);
/// a·b.
Matrix multiply(const Matrix& a, const Matrix& b);
/// m·v, v a column.
std::vector<curve::Fr> multiply(const Matrix& m, std::span<const curve::Fr> v);
/// m⁻¹ by Gauss-Jordan elimination.
/// Throws InvalidInput if m is singular.
Matrix invert(const Matrix& m);

}  // namespace cuzk::hash

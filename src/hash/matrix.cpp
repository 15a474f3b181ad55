#include "hash/matrix.hpp"

#include "base/error.hpp"

#include <utility>

namespace cuzk::hash {

using curve::Fr;

namespace {

using Row = std::vector<Fr>;

void scale(Row& row, const Fr& factor) {
  for (Fr& entry : row) entry *= factor;
}

/// row -= factor·other
void subtract_multiple(Row& row, const Fr& factor, const Row& other) {
  for (std::size_t i = 0; i < row.size(); ++i) row[i] -= factor * other[i];
}

}  // namespace

Matrix identity_matrix(std::size_t size) {
  Matrix out(size, Row(size));
  for (std::size_t i = 0; i < size; ++i) out[i][i] = Fr::one();
  return out;
}

Matrix lower_right(const Matrix& m) {
  Matrix out;
  for (std::size_t i = 1; i < m.size(); ++i) out.emplace_back(m[i].begin() + 1, m[i].end());
  return out;
}

Matrix multiply(const Matrix& a, const Matrix& b) {
  Matrix out(a.size(), Row(b[0].size()));
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t k = 0; k < b.size(); ++k) {
      for (std::size_t j = 0; j < b[k].size(); ++j) out[i][j] += a[i][k] * b[k][j];
    }
  }
  return out;
}

Row multiply(const Matrix& m, std::span<const Fr> v) {
  Row out(m.size());
  for (std::size_t i = 0; i < m.size(); ++i) {
    for (std::size_t j = 0; j < v.size(); ++j) out[i] += m[i][j] * v[j];
  }
  return out;
}

Matrix invert(const Matrix& m) {
  Matrix left = m;
  Matrix right = identity_matrix(m.size());
  for (std::size_t column = 0; column < m.size(); ++column) {
    std::size_t pivot = column;
    while (pivot < m.size() && left[pivot][column].is_zero()) ++pivot;
    base::require(pivot < m.size(), "matrix of {0} x {0} is singular", m.size());
    std::swap(left[column], left[pivot]);
    std::swap(right[column], right[pivot]);

    const Fr inverse = left[column][column].inverse();
    scale(left[column], inverse);
    scale(right[column], inverse);
    for (std::size_t row = 0; row < m.size(); ++row) {
      if (row == column) continue;
      const Fr factor = left[row][column];
      subtract_multiple(left[row], factor, left[column]);
      subtract_multiple(right[row], factor, right[column]);
    }
  }
  return right;
}

}  // namespace cuzk::hash

#pragma once

/// The handle behind cudaStream_t; declared here so that a header can name a stream without the
/// CUDA toolkit.
struct CUstream_st;

namespace cuzk::base::cuda {

/// A stream that someone else owns (see Stream). Trivially copyable; the last parameter of
/// everything that enqueues work, never defaulted. Work of one stream runs in order; the function
/// returns before it has run.
struct StreamRef {
  CUstream_st* handle = nullptr;
};

}  // namespace cuzk::base::cuda

#pragma once

/// Code that host and device share. A function marked CUZK_HD is compiled for both by nvcc and is
/// an ordinary inline function for every other compiler. CUZK_HD_CALL marks one that must stay a
/// call on the device (large and rarely executed, or shared by several places of a kernel whose
/// code would otherwise outgrow the instruction cache); CUZK_HD_CALL_TEMPLATE is the same for a
/// template.
#ifdef __CUDACC__
#define CUZK_HD __host__ __device__ __forceinline__
#define CUZK_HD_CALL static __host__ __device__ __noinline__
#define CUZK_HD_CALL_TEMPLATE __host__ __device__ __noinline__
#else
#define CUZK_HD inline
#define CUZK_HD_CALL inline
#define CUZK_HD_CALL_TEMPLATE inline
#endif

/// Unrolls the loop that follows, completely, in device code. Host compilers decide for themselves.
#ifdef __CUDACC__
#define CUZK_UNROLL _Pragma("unroll")
#define CUZK_NO_UNROLL _Pragma("unroll 1")
#else
#define CUZK_UNROLL
#define CUZK_NO_UNROLL
#endif

#include "groth16/cuda/device_circuit_impl.cuh"

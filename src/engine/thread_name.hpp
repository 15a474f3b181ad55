#pragma once

#include <pthread.h>
#include <string>

namespace cuzk::engine {

/// Names the calling thread for debuggers and `top -H`; the system keeps 15 characters.
inline void set_thread_name(const std::string& name) {
  pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
}

}  // namespace cuzk::engine

#include "daemon/kills.hpp"

#include <gtest/gtest.h>

namespace cuzk::daemon_test {
namespace {

TEST(Kill, AcceptedJobsOutliveTwoHundredKills) { expect_jobs_outlive_kills(200); }

}  // namespace
}  // namespace cuzk::daemon_test

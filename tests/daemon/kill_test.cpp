#include "daemon/kills.hpp"

#include <gtest/gtest.h>

namespace cuzk::daemon_test {
namespace {

TEST(Kill, AcceptedJobsOutliveThirtyKills) { expect_jobs_outlive_kills(30); }

}  // namespace
}  // namespace cuzk::daemon_test

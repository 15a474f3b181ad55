#include "engine/host_memory.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <unistd.h>

namespace cuzk::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

/// A tree of files as below "/", for one machine each.
class HostMemoryTest : public ::testing::Test {
 protected:
  HostMemoryTest() {
    std::string name = (std::filesystem::temp_directory_path() / "cuzk-host-XXXXXX").string();
    root_ = ::mkdtemp(name.data());
  }
  ~HostMemoryTest() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, std::string_view text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  void machine_of_256_gib() {
    write(
        "proc/meminfo",
        "MemTotal:       268435456 kB\nMemFree:         1000000 kB\nMemAvailable:   251658240 kB\n"
        "HugePages_Total:       0\nHugetlb:               0 kB\n");
  }
  void version_2(std::string_view group) {
    write("proc/self/cgroup", fmt::format("0::{}\n", group));
    write("proc/self/mountinfo",
          "22 28 0:20 / /proc rw,relatime shared:12 - proc proc rw\n"
          "34 24 0:29 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
  }

  std::filesystem::path root_;
};

TEST_F(HostMemoryTest, PhysicalMemoryLessTheMargin) {
  machine_of_256_gib();
  version_2("/system.slice/cuzk.service");
  write("sys/fs/cgroup/system.slice/cuzk.service/memory.max", "max\n");
  write("sys/fs/cgroup/system.slice/cuzk.service/memory.current", "4096\n");
  const HostMemory memory = read_host_memory(root_);
  EXPECT_EQ(memory.physical, 256 * kGiB);
  EXPECT_EQ(memory.available, 240 * kGiB);
  EXPECT_FALSE(memory.cgroup);
  EXPECT_THAT(memory.notes, IsEmpty());
  const HostBudget budget = host_budget({}, memory);
  EXPECT_EQ(budget.bytes, 251 * kGiB);
  EXPECT_EQ(budget.source, "physical");
  EXPECT_EQ(budget.explanation, "251.0 GiB (physical memory of 256.0 GiB, 5.0 GiB left free)");
  // 240 GiB are free.
  EXPECT_THAT(budget.warnings, ElementsAre(HasSubstr("only 240.0 GiB of the budget's 251.0 GiB")));
}

TEST_F(HostMemoryTest, HugePagesAreNotForUs) {
  write("proc/meminfo",
        "MemTotal: 268435456 kB\nMemAvailable: 1 kB\nHugetlb:        67108864 kB\n");
  EXPECT_EQ(read_host_memory(root_).physical, 192 * kGiB);
}

TEST_F(HostMemoryTest, TheTightestLimitAboveTheProcessCounts) {
  machine_of_256_gib();
  version_2("/system.slice/cuzk.service");
  const std::string service = "sys/fs/cgroup/system.slice/cuzk.service/";
  write(service + "memory.max", "137438953472\n");                   // 128 GiB
  write("sys/fs/cgroup/system.slice/memory.max", "107374182400\n");  // 100 GiB
  write("sys/fs/cgroup/system.slice/memory.current", "10737418240\n");
  const HostMemory memory = read_host_memory(root_);
  ASSERT_TRUE(memory.cgroup);
  EXPECT_EQ(memory.cgroup->bytes, 100 * kGiB);
  EXPECT_EQ(memory.cgroup->used, 10 * kGiB);
  const HostBudget budget = host_budget({}, memory);
  EXPECT_EQ(budget.bytes, 95 * kGiB);
  EXPECT_EQ(budget.source, "cgroup");
  EXPECT_THAT(budget.explanation, HasSubstr("system.slice/memory.max"));
  // The throttle binds as the limit does.
  write(service + "memory.high", "64424509440\n");  // 60 GiB
  EXPECT_EQ(host_budget({}, read_host_memory(root_)).bytes, 55 * kGiB);
}

// In a container the mount shows the container's group as its top, under a name that the process's
// own file may or may not know.
TEST_F(HostMemoryTest, ContainersOfVersion2) {
  machine_of_256_gib();
  version_2("/");
  write("sys/fs/cgroup/memory.max", "34359738368\n");
  EXPECT_EQ(read_host_memory(root_).cgroup->bytes, 32 * kGiB);
  version_2("/../../kubepods/burstable/pod1");  // another namespace's name
  EXPECT_EQ(read_host_memory(root_).cgroup->bytes, 32 * kGiB);
}

TEST_F(HostMemoryTest, Version1) {
  machine_of_256_gib();
  write("proc/self/cgroup", "11:cpu,cpuacct:/docker/abc\n4:memory:/docker/abc\n1:name=systemd:/\n");
  // As in a container: the group is mounted as the top.
  write("proc/self/mountinfo",
        "40 30 0:35 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
        "41 30 0:36 /docker/abc /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu,cpuacct\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "68719476736\n");
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "1073741824\n");
  write("sys/fs/cgroup/cpu/memory.limit_in_bytes", "1\n");
  HostMemory memory = read_host_memory(root_);
  ASSERT_TRUE(memory.cgroup);
  EXPECT_EQ(memory.cgroup->bytes, 64 * kGiB);
  EXPECT_EQ(memory.cgroup->used, kGiB);
  // As on the host.
  write("proc/self/mountinfo", "40 30 0:35 / /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");  // none
  write("sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "17179869184\n");
  EXPECT_EQ(read_host_memory(root_).cgroup->bytes, 16 * kGiB);
}

TEST_F(HostMemoryTest, BothVersionsAtOnce) {
  machine_of_256_gib();
  write("proc/self/cgroup", "4:memory:/user\n0::/user\n");
  write("proc/self/mountinfo",
        "40 30 0:35 / /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
        "41 30 0:36 / /sys/fs/cgroup/unified ro - cgroup2 cgroup2 rw\n");
  write("sys/fs/cgroup/unified/user/cgroup.procs", "1\n");
  write("sys/fs/cgroup/memory/user/memory.limit_in_bytes", "17179869184\n");
  EXPECT_EQ(read_host_memory(root_).cgroup->bytes, 16 * kGiB);
}

TEST_F(HostMemoryTest, AnExplicitBudgetIsBoundByWhatThereIs) {
  machine_of_256_gib();
  Config::Memory config;
  config.total_budget.bytes = 100 * kGiB;
  HostMemory memory = read_host_memory(root_);
  HostBudget budget = host_budget(config, memory);
  EXPECT_EQ(budget.bytes, 100 * kGiB);
  EXPECT_EQ(budget.source, "config");
  config.total_budget.bytes = 400 * kGiB;
  budget = host_budget(config, memory);
  EXPECT_EQ(budget.bytes, 251 * kGiB);
  EXPECT_EQ(budget.source, "physical");
  EXPECT_THAT(
      budget.warnings,
      ::testing::Contains(HasSubstr("memory.total_budget = 400.0 GiB is more than there is")));
}

TEST_F(HostMemoryTest, SmallMachinesKeepThreeQuarters) {
  write("proc/meminfo", "MemTotal: 4194304 kB\nMemAvailable: 4194304 kB\n");
  EXPECT_EQ(host_budget({}, read_host_memory(root_)).bytes, 3 * kGiB);
}

TEST_F(HostMemoryTest, WhatCannotBeReadIsSaid) {
  const HostMemory memory = read_host_memory(root_);
  EXPECT_EQ(memory.physical, 0U);
  EXPECT_FALSE(memory.cgroup);
  EXPECT_THAT(memory.notes, ElementsAre(HasSubstr("proc/meminfo cannot be read"),
                                        HasSubstr("proc/self/cgroup cannot be read")));
  HostBudget budget = host_budget({}, memory);
  EXPECT_EQ(budget.bytes, 8 * kGiB);
  EXPECT_THAT(budget.warnings,
              ::testing::Contains(HasSubstr("8.0 GiB are assumed; set memory.total_budget")));
  Config::Memory config;
  config.total_budget.bytes = 100 * kGiB;
  EXPECT_EQ(host_budget(config, memory).bytes, 100 * kGiB);
}

TEST_F(HostMemoryTest, NonsenseInFilesIsNoLimit) {
  machine_of_256_gib();
  version_2("/a");
  for (const char* text : {"", "max", "-1", "lots", "99999999999999999999999"}) {
    write("sys/fs/cgroup/a/memory.max", text);
    EXPECT_FALSE(read_host_memory(root_).cgroup) << text;
  }
  write("proc/self/mountinfo", "nonsense\n - \n1 2 3 - cgroup2\n");
  EXPECT_FALSE(read_host_memory(root_).cgroup);
  write("proc/meminfo", "MemTotal:\nMemTotalX: 5 kB\nMemAvailable: many kB\n");
  EXPECT_EQ(read_host_memory(root_).physical, 0U);
}

TEST_F(HostMemoryTest, PinnedMemoryIsAtMostHalf) {
  machine_of_256_gib();
  const HostMemory memory = read_host_memory(root_);
  Config::Memory config;
  HostBudget host = host_budget(config, memory);
  EXPECT_EQ(pinned_budget(config, memory, host).bytes, 128 * kGiB);
  EXPECT_EQ(pinned_budget(config, memory, host).source, "physical");
  config.pinned_budget.bytes = 10 * kGiB;
  EXPECT_EQ(pinned_budget(config, memory, host).bytes, 10 * kGiB);
  EXPECT_EQ(pinned_budget(config, memory, host).source, "config");
  config.total_budget.bytes = 8 * kGiB;
  host = host_budget(config, memory);
  EXPECT_EQ(pinned_budget(config, memory, host).bytes, 8 * kGiB);
}

TEST_F(HostMemoryTest, ProcessUsage) {
  write("proc/self/status",
        "Name:\tcuzk\nVmHWM:\t  2097152 kB\nVmRSS:\t  1048576 kB\nThreads:\t17\n");
  write("proc/self/fd/0", "");
  write("proc/self/fd/1", "");
  const ProcessUsage usage = read_process_usage(root_);
  EXPECT_EQ(usage.resident, kGiB);
  EXPECT_EQ(usage.peak_resident, 2 * kGiB);
  EXPECT_EQ(usage.threads, 17U);
  EXPECT_EQ(usage.descriptors, 2U);
  EXPECT_EQ(read_process_usage(root_ / "none").resident, 0U);
}

// This machine, whatever it is.
TEST(HostMemory, IsFoundHere) {
  const HostMemory memory = read_host_memory();
  EXPECT_GT(memory.physical, std::uint64_t{1} << 28);
  EXPECT_GT(memory.available, 0U);
  const HostBudget budget = host_budget({}, memory);
  EXPECT_GT(budget.bytes, 0U);
  EXPECT_LE(budget.bytes, memory.physical);
  const ProcessUsage usage = read_process_usage();
  EXPECT_GT(usage.resident, std::uint64_t{1} << 20);
  EXPECT_GE(usage.peak_resident, usage.resident);
  EXPECT_GE(usage.threads, 1U);
  EXPECT_GE(usage.descriptors, 3U);
}

}  // namespace
}  // namespace cuzk::engine

#pragma once

namespace cuzk::daemon_test {

/// Starts a server and kills it at a random moment, so many times, in half of the rounds already
/// while it starts, under a load of clients that submit and await. Then: whatever was accepted is
/// proved in the end, once, and the journal is whole. A job that was on a device at two kills may
/// be refused by name instead: the program cannot know who killed it.
void expect_jobs_outlive_kills(int kills);

}  // namespace cuzk::daemon_test

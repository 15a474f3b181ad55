#include "base/cuda/error.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "cli/commands.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <unistd.h>

namespace cuzk::cli {

namespace {

constexpr int kUsage = 64;

/// The lines of an error are its own; what it quotes of files and answers is not for the terminal.
int report(int status, const char* kind, std::string_view text) {
  std::string lines;
  while (true) {
    const std::size_t end = text.find('\n');
    lines += base::escape_controls(text.substr(0, end)) + '\n';
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  const bool journal = base::is_journal(STDERR_FILENO, std::getenv("JOURNAL_STREAM"));
  fmt::print(stderr, "{}cuzk: {}{}", journal ? base::journal_prefix(base::LogLevel::kError) : "",
             kind, lines);
  return status;
}

/// The library reads "-5" as 2^64 - 5, 2^64 as 2^64 - 1, "" as 0 and "010" as 8.
void refuse_wrapped_numbers(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (!option->get_type_name().starts_with("UINT")) continue;
    option->check(
        [](const std::string& text) -> std::string {
          std::uint64_t value = 0;
          std::from_chars(text.data(), text.data() + text.size(), value);
          const bool is_read = text == std::to_string(value);
          return is_read ? "" : fmt::format("'{}' is no number from 0 to 2^64 - 1", text);
        },
        "");
  }
  for (CLI::App* command : app.get_subcommands({})) refuse_wrapped_numbers(*command);
}

/// `status`, unless what was printed could not be written.
int require_written(int status) {
  errno = 0;
  const bool flushed = std::fflush(stdout) == 0;
  if (flushed && std::ferror(stdout) == 0) return status;
  const int error = errno;
  std::clearerr(stdout);
  return report(3, "standard output: ", error == 0 ? "not all was written" : std::strerror(error));
}

}  // namespace

int run(int argc, char** argv) {
  CLI::App app{"cuzk: a persistent Groth16 proving engine for Filecoin", "cuzk"};
  app.require_subcommand(0, 1);
  add_r1cs_command(app);
  add_vanilla_command(app);
  add_gen_vanilla_command(app);
  add_setup_command(app);
  add_prove_command(app);
  add_verify_command(app);
  add_params_command(app);
  add_journal_command(app);
  add_bench_command(app);
  add_daemon_command(app);
  add_client_commands(app);
  refuse_wrapped_numbers(app);
  try {
    app.parse(argc, argv);
    return require_written(0);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? require_written(0) : kUsage;
  } catch (const base::InvalidInput& error) {
    return report(1, "", error.what());
  } catch (const base::CorruptData& error) {
    return report(2, "damaged file: ", error.what());
  } catch (const base::ResourceExhausted& error) {
    return report(3, "", error.what());
  } catch (const base::cuda::DeviceError& error) {
    return report(5, "device: ", error.what());
  } catch (const std::bad_alloc&) {
    return report(3, "", "out of memory");
  } catch (const std::exception& error) {
    if (std::ferror(stdout) != 0) return require_written(0);
    return report(4, "internal error: ", error.what());
  }
}

}  // namespace cuzk::cli

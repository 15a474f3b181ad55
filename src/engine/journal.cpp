#include "engine/journal.hpp"

#include "base/error.hpp"
#include "engine/journal_file.hpp"
#include "engine/sqlite.hpp"
#include "hash/sha256.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

namespace cuzk::engine {

namespace {

using base::fail;
using base::require;
using sqlite::Statement;
using sqlite::Transaction;

/// SQLite has a row in memory as a whole; a payload may be 256 MiB.
constexpr std::size_t kPieceBytes = std::size_t{4} << 20;
/// Of one job; a WindowPoSt has one for each of at most 2349 sectors.
constexpr std::uint64_t kMaxProofs = std::uint64_t{1} << 20;
constexpr std::uint64_t kMaxCrashRows = 10'000;
/// That the system's clock may gain on the steady one between two looks without having been set.
constexpr std::chrono::minutes kClockDrift(1);

std::chrono::system_clock::time_point from_ms(std::int64_t ms) {
  return std::chrono::system_clock::time_point(std::chrono::milliseconds(ms));
}

JobState parse_state(std::string_view text) {
  for (const JobState state : {JobState::kCompleted, JobState::kFailed, JobState::kCancelled}) {
    if (to_string(state) == text) return state;
  }
  fail<base::CorruptData>("journal: a job ended in the unknown state '{}'", text);
}

ErrorCode parse_code(std::string_view text) {
  for (int i = 0; i <= static_cast<int>(ErrorCode::kInternal); ++i) {
    const auto code = static_cast<ErrorCode>(i);
    if (to_string(code) == text) return code;
  }
  return ErrorCode::kInternal;
}

/// Whether one column is the SHA-256 of the other.
bool is_intact(Statement& statement, int bytes, int digest) {
  return std::ranges::equal(hash::sha256(statement.view(bytes)), statement.view(digest));
}

/// What read_job() and read_payload() read.
constexpr std::string_view kSelectUnfinished =
    "SELECT row, job_id, request_id, accepted_ms, crashes, kind, sector_size, registered_proof,"
    " priority, sector_number, miner_id, randomness, partition_index, comm_r_old, comm_r_new,"
    " comm_d_new, vanilla_count, payload_digest FROM job";

Journal::UnfinishedJob read_job(Statement& statement) {
  Journal::UnfinishedJob job;
  job.job_id = statement.text(1);
  job.payload_digest = statement.text(17);
  job.accepted = from_ms(statement.integer(3));
  job.crashes = static_cast<std::uint32_t>(statement.integer(4));
  JobRequest& request = job.request;
  request.request_id = statement.text(2);
  request.kind = static_cast<ProofKind>(statement.integer(5));
  request.sector_size = statement.unsigned_integer(6);
  request.registered_proof = statement.unsigned_integer(7);
  request.priority = static_cast<Priority>(statement.integer(8));
  request.sector_number = statement.unsigned_integer(9);
  request.miner_id = statement.unsigned_integer(10);
  request.randomness = statement.bytes(11);
  request.partition_index = static_cast<std::uint32_t>(statement.integer(12));
  request.comm_r_old = statement.bytes(13);
  request.comm_r_new = statement.bytes(14);
  request.comm_d_new = statement.bytes(15);
  return job;
}

std::uint64_t payload_bytes(const JobRequest& request) {
  std::uint64_t sum = request.vanilla_proof.size();
  for (const base::Bytes& proof : request.vanilla_proofs) sum += proof.size();
  return sum;
}

}  // namespace

class Journal::Impl {
 public:
  Impl(const std::filesystem::path& path, const Options& options)
      : options_(options), file_(path), database_(file_.database()) {
    is_clock_trusted();
  }

  const std::string& recovered() const { return file_.recovered(); }

  void add(std::string_view job_id, const JobRequest& request, std::string_view digest);
  void mark_started(std::string_view job_id);
  void mark_stopped(std::string_view job_id);
  void add_partition(std::string_view job_id, std::uint32_t index, base::ByteView proof);
  void finish(const JobResult& result);
  std::vector<UnfinishedJob> unfinished();
  std::optional<JobRequest> request(std::string_view job_id);
  std::optional<FinishedJob> find(std::string_view which, std::initializer_list<sqlite::Value> key);
  std::vector<std::string> crashers(std::uint32_t times);
  void forgive(std::string_view digest);
  void set_retention(std::chrono::hours keep_results, std::uint64_t max_results);
  void trim();

 private:
  /// The row of an unfinished job. Throws InvalidInput if there is none.
  std::int64_t unfinished_row(std::string_view job_id);
  std::chrono::system_clock::time_point now() const {
    return options_.clock ? options_.clock() : std::chrono::system_clock::now();
  }
  /// Looks at the clocks; false for keep_results after the system's was set forward.
  bool is_clock_trusted();
  void write_pieces(std::int64_t row, std::int64_t blob, base::ByteView bytes);
  /// `job`: at a row of kSelectUnfinished. False if the disk has changed the request.
  bool read_payload(Statement& job, JobRequest& request);

  std::mutex mutex_;
  // guarded by mutex_:
  Options options_;
  struct Clocks {
    std::chrono::system_clock::time_point system;
    std::chrono::steady_clock::time_point steady;
  };
  std::optional<Clocks> seen_;
  std::optional<std::chrono::steady_clock::time_point> set_forward_;
  JournalFile file_;
  sqlite::Database& database_;
};

std::int64_t Journal::Impl::unfinished_row(std::string_view job_id) {
  Statement statement(database_, "SELECT row FROM job WHERE job_id = ? AND finished_ms IS NULL",
                      {job_id});
  require(statement.next(), "journal: no unfinished job '{}'", job_id);
  return statement.integer(0);
}

void Journal::Impl::write_pieces(std::int64_t row, std::int64_t blob, base::ByteView bytes) {
  for (std::int64_t piece = 0; !bytes.empty(); ++piece) {
    const base::ByteView part = bytes.first(std::min(bytes.size(), kPieceBytes));
    database_.run("INSERT INTO payload VALUES (?, ?, ?, ?)", {row, blob, piece, part});
    bytes = bytes.subspan(part.size());
  }
}

bool Journal::Impl::read_payload(Statement& job, JobRequest& request) {
  const std::uint64_t count = job.unsigned_integer(16);
  if (count > kMaxProofs) return false;
  request.vanilla_proofs.resize(count);
  Statement statement(database_,
                      "SELECT blob, bytes FROM payload WHERE job = ? ORDER BY blob, piece",
                      {job.integer(0)});
  while (statement.next()) {
    const std::uint64_t blob = statement.unsigned_integer(0);
    if (blob > count) return false;
    statement.append(1, blob == 0 ? request.vanilla_proof : request.vanilla_proofs[blob - 1]);
  }
  return payload_digest(request) == job.text(17);
}

void Journal::Impl::add(std::string_view job_id, const JobRequest& request,
                        std::string_view digest) {
  using sqlite::number;
  require(request.vanilla_proofs.size() <= kMaxProofs, "journal: {} vanilla proofs are too many",
          request.vanilla_proofs.size());
  const std::lock_guard lock(mutex_);
  const std::uint64_t bytes = payload_bytes(request);
  const auto kept = static_cast<std::uint64_t>(database_.integer(
      "SELECT coalesce(sum(payload_bytes), 0) FROM job WHERE finished_ms IS NULL"));
  if (kept > options_.max_bytes || bytes > options_.max_bytes - kept) {
    fail<base::ResourceExhausted>(
        "the journal holds {} bytes of unfinished jobs and may hold {}; {} more are too many: wait "
        "until some have ended",
        kept, options_.max_bytes, bytes);
  }
  Transaction transaction(database_);
  require(database_.integer("SELECT count(*) FROM job WHERE job_id = ? AND finished_ms IS NULL",
                            {job_id}) == 0,
          "journal: the job '{}' is there already and has not ended", job_id);
  database_.run(
      "INSERT INTO job (job_id, request_id, payload_digest, accepted_ms, kind, sector_size,"
      " registered_proof, priority, sector_number, miner_id, randomness, partition_index,"
      " comm_r_old, comm_r_new, comm_d_new, vanilla_count, payload_bytes)"
      " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      {job_id, std::string_view(request.request_id), digest, to_ms(now()),
       number(static_cast<std::uint64_t>(request.kind)), number(request.sector_size),
       number(request.registered_proof), number(static_cast<std::uint64_t>(request.priority)),
       number(request.sector_number), number(request.miner_id), base::ByteView(request.randomness),
       number(request.partition_index), base::ByteView(request.comm_r_old),
       base::ByteView(request.comm_r_new), base::ByteView(request.comm_d_new),
       number(request.vanilla_proofs.size()), number(bytes)});
  const std::int64_t row = database_.last_row();
  write_pieces(row, 0, request.vanilla_proof);
  for (std::size_t i = 0; i < request.vanilla_proofs.size(); ++i)
    write_pieces(row, static_cast<std::int64_t>(i) + 1, request.vanilla_proofs[i]);
  transaction.commit();
}

void Journal::Impl::mark_started(std::string_view job_id) {
  const std::lock_guard lock(mutex_);
  database_.run("UPDATE job SET started = 1 WHERE row = ?", {unfinished_row(job_id)});
}

void Journal::Impl::mark_stopped(std::string_view job_id) {
  const std::lock_guard lock(mutex_);
  // Of a job that has ended the mark is gone already.
  database_.run("UPDATE job SET started = 0 WHERE job_id = ? AND finished_ms IS NULL", {job_id});
}

void Journal::Impl::add_partition(std::string_view job_id, std::uint32_t index,
                                  base::ByteView proof) {
  const std::lock_guard lock(mutex_);
  const base::Bytes32 digest = hash::sha256(proof);
  database_.run("INSERT OR REPLACE INTO finished_partition VALUES (?, ?, ?, ?)",
                {unfinished_row(job_id), sqlite::number(index), proof, base::ByteView(digest)});
}

void Journal::Impl::finish(const JobResult& result) {
  require(is_final(result.state), "journal: '{}' is no end of the job '{}'",
          to_string(result.state), result.job_id);
  const std::lock_guard lock(mutex_);
  const base::Bytes32 digest = hash::sha256(result.proof);
  Transaction transaction(database_);
  const std::int64_t row = unfinished_row(result.job_id);
  const JobTimings& timings = result.timings;
  database_.run(
      "UPDATE job SET finished_ms = ?, state = ?, proof = ?, proof_sha256 = ?, code = ?, error = ?,"
      " queue_wait_ms = ?, srs_load_ms = ?, synthesis_ms = ?, gpu_compute_ms = ?, total_ms = ?,"
      " attempts = ?, backend = ?, payload_bytes = 0, started = 0 WHERE row = ?",
      {to_ms(now()), to_string(result.state), base::ByteView(result.proof), base::ByteView(digest),
       to_string(result.code), std::string_view(result.error), timings.queue_wait.count(),
       timings.srs_load.count(), timings.synthesis.count(), timings.gpu_compute.count(),
       timings.total.count(), sqlite::number(result.attempts), std::string_view(result.backend),
       row});
  database_.run("DELETE FROM payload WHERE job = ?", {row});
  database_.run("DELETE FROM finished_partition WHERE job = ?", {row});
  // It was at hand when the process died, but it was not the cause.
  if (result.state == JobState::kCompleted) {
    database_.run(
        "DELETE FROM crash WHERE payload_digest = (SELECT payload_digest FROM job WHERE row = ?)",
        {row});
  }
  transaction.commit();
}

std::vector<Journal::UnfinishedJob> Journal::Impl::unfinished() {
  const std::lock_guard lock(mutex_);
  std::vector<UnfinishedJob> jobs;
  Statement statement(database_,
                      fmt::format("{} WHERE finished_ms IS NULL ORDER BY row", kSelectUnfinished));
  while (statement.next()) {
    UnfinishedJob job = read_job(statement);
    Statement partitions(
        database_, "SELECT ix, proof, sha256 FROM finished_partition WHERE job = ? ORDER BY ix",
        {statement.integer(0)});
    while (partitions.next()) {
      if (is_intact(partitions, 1, 2)) {
        job.partitions.emplace_back(static_cast<std::uint32_t>(partitions.integer(0)),
                                    partitions.bytes(1));
      }
    }
    jobs.push_back(std::move(job));
  }
  return jobs;
}

std::optional<JobRequest> Journal::Impl::request(std::string_view job_id) {
  const std::lock_guard lock(mutex_);
  Statement statement(database_,
                      fmt::format("{} WHERE finished_ms IS NULL AND job_id = ?", kSelectUnfinished),
                      {job_id});
  if (!statement.next()) return std::nullopt;
  UnfinishedJob job = read_job(statement);
  if (!read_payload(statement, job.request)) {
    fail<base::CorruptData>("its payload was damaged on disk ({}): submit it again, check the disk",
                            database_.name());
  }
  return std::move(job.request);
}

std::optional<Journal::FinishedJob> Journal::Impl::find(std::string_view which,
                                                        std::initializer_list<sqlite::Value> key) {
  const std::lock_guard lock(mutex_);
  const std::string sql = fmt::format(
      "SELECT request_id, payload_digest, job_id, state, proof, code, error, queue_wait_ms,"
      " srs_load_ms, synthesis_ms, gpu_compute_ms, total_ms, attempts, backend, proof_sha256 FROM "
      "job"
      " WHERE finished_ms IS NOT NULL AND {} LIMIT 1",
      which);
  Statement statement(database_, sql, key);
  // What the disk has changed is not known any more, and is proved again.
  if (!statement.next() || !is_intact(statement, 4, 14)) return std::nullopt;
  const auto ms = [&](int column) { return std::chrono::milliseconds(statement.integer(column)); };
  FinishedJob job;
  job.request_id = statement.text(0);
  job.payload_digest = statement.text(1);
  job.result.job_id = statement.text(2);
  job.result.state = parse_state(statement.text(3));
  job.result.proof = statement.bytes(4);
  job.result.code = parse_code(statement.text(5));
  job.result.error = statement.text(6);
  job.result.timings = {ms(7), ms(8), ms(9), ms(10), ms(11)};
  job.result.attempts = static_cast<std::uint32_t>(statement.integer(12));
  job.result.backend = statement.text(13);
  return job;
}

std::vector<std::string> Journal::Impl::crashers(std::uint32_t times) {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> digests;
  Statement statement(database_,
                      "SELECT payload_digest FROM crash WHERE times >= ? ORDER BY payload_digest",
                      {sqlite::number(times)});
  while (statement.next()) digests.push_back(statement.text(0));
  return digests;
}

void Journal::Impl::forgive(std::string_view digest) {
  const std::lock_guard lock(mutex_);
  Transaction transaction(database_);
  database_.run("DELETE FROM crash WHERE payload_digest = ?", {digest});
  database_.run("UPDATE job SET crashes = 0 WHERE payload_digest = ? AND finished_ms IS NULL",
                {digest});
  transaction.commit();
}

void Journal::Impl::set_retention(std::chrono::hours keep_results, std::uint64_t max_results) {
  const std::lock_guard lock(mutex_);
  options_.keep_results = keep_results;
  options_.max_results = max_results;
}

bool Journal::Impl::is_clock_trusted() {
  const Clocks clocks{now(), std::chrono::steady_clock::now()};
  if (seen_ && clocks.system - seen_->system > clocks.steady - seen_->steady + kClockDrift)
    set_forward_ = clocks.steady;
  seen_ = clocks;
  return !set_forward_ || clocks.steady - *set_forward_ >= options_.keep_results;
}

void Journal::Impl::trim() {
  const std::lock_guard lock(mutex_);
  {
    Transaction transaction(database_);
    if (is_clock_trusted()) {
      const std::int64_t oldest = to_ms(now() - options_.keep_results);
      database_.run("DELETE FROM job WHERE finished_ms <= ?", {oldest});
    }
    database_.run(
        "DELETE FROM job WHERE row IN (SELECT row FROM job WHERE finished_ms IS NOT NULL"
        " ORDER BY row DESC LIMIT -1 OFFSET ?)",
        {sqlite::number(options_.max_results)});
    database_.run(
        "DELETE FROM crash WHERE payload_digest IN (SELECT payload_digest FROM crash"
        " ORDER BY last_ms DESC LIMIT -1 OFFSET ?)",
        {sqlite::number(kMaxCrashRows)});
    transaction.commit();
  }
  // Gives pages that became free back to the file system, but for what the next jobs will need.
  const std::int64_t free_pages = database_.integer("PRAGMA freelist_count");
  const auto kept = static_cast<std::int64_t>(options_.free_bytes / kJournalPageBytes);
  if (free_pages > kept)
    database_.run(fmt::format("PRAGMA incremental_vacuum({})", free_pages - kept), {});
}

Journal::Journal(const std::filesystem::path& path, const Options& options)
    : impl_(std::make_unique<Impl>(path, options)), recovered_(impl_->recovered()) {}

Journal::~Journal() = default;

void Journal::add(std::string_view job_id, const JobRequest& request,
                  std::string_view payload_digest) {
  impl_->add(job_id, request, payload_digest);
}

void Journal::mark_started(std::string_view job_id) { impl_->mark_started(job_id); }
void Journal::mark_stopped(std::string_view job_id) { impl_->mark_stopped(job_id); }

void Journal::add_partition(std::string_view job_id, std::uint32_t index, base::ByteView proof) {
  impl_->add_partition(job_id, index, proof);
}

void Journal::finish(const JobResult& result) { impl_->finish(result); }

std::vector<Journal::UnfinishedJob> Journal::unfinished() { return impl_->unfinished(); }

std::optional<JobRequest> Journal::request(std::string_view job_id) {
  return impl_->request(job_id);
}

std::optional<Journal::FinishedJob> Journal::find(std::string_view request_id,
                                                  std::string_view payload_digest) {
  return impl_->find(
      "request_id = ? AND payload_digest = ? ORDER BY state = 'completed' DESC, row DESC",
      {request_id, payload_digest});
}

std::optional<Journal::FinishedJob> Journal::find_job(std::string_view job_id) {
  return impl_->find("job_id = ? ORDER BY row DESC", {job_id});
}

std::vector<std::string> Journal::crashers(std::uint32_t times) { return impl_->crashers(times); }
void Journal::forgive(std::string_view payload_digest) { impl_->forgive(payload_digest); }
void Journal::set_retention(std::chrono::hours keep_results, std::uint64_t max_results) {
  impl_->set_retention(keep_results, max_results);
}
void Journal::trim() { impl_->trim(); }

}  // namespace cuzk::engine

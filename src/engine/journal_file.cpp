#include "engine/journal_file.hpp"

#include "base/error.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>

namespace cuzk::engine {

namespace {

/// In the file's header, so that no other program's database is taken for a journal: "cuzk".
constexpr std::int64_t kApplicationId = 0x63757a6b;

/// Step i brings a file from schema version i to i + 1; a new file takes all of them.
constexpr std::array<const char*, 1> kMigrations = {R"sql(
CREATE TABLE job (
  row              INTEGER PRIMARY KEY AUTOINCREMENT,
  job_id           TEXT NOT NULL,
  request_id       TEXT NOT NULL,
  payload_digest   TEXT NOT NULL,               -- also guards the request against the disk
  accepted_ms      INTEGER NOT NULL,            -- since 1970
  -- the request; numbers of 64 bits are kept as signed ones
  kind             INTEGER NOT NULL,
  sector_size      INTEGER NOT NULL,
  registered_proof INTEGER NOT NULL,
  priority         INTEGER NOT NULL,
  sector_number    INTEGER NOT NULL,
  miner_id         INTEGER NOT NULL,
  randomness       BLOB NOT NULL,
  partition_index  INTEGER NOT NULL,
  comm_r_old       BLOB NOT NULL,
  comm_r_new       BLOB NOT NULL,
  comm_d_new       BLOB NOT NULL,
  vanilla_count    INTEGER NOT NULL,            -- of vanilla_proofs
  payload_bytes    INTEGER NOT NULL,            -- 0 once the payload has been dropped
  -- progress
  started          INTEGER NOT NULL DEFAULT 0,  -- a stage works on it
  crashes          INTEGER NOT NULL DEFAULT 0,
  -- the end; NULL while it is not there
  finished_ms      INTEGER,
  state            TEXT,
  proof            BLOB,
  proof_sha256     BLOB,
  code             TEXT,
  error            TEXT,
  queue_wait_ms    INTEGER,
  srs_load_ms      INTEGER,
  synthesis_ms     INTEGER,
  gpu_compute_ms   INTEGER,
  total_ms         INTEGER,
  attempts         INTEGER,
  backend          TEXT
);
CREATE INDEX job_by_request ON job (request_id, payload_digest) WHERE finished_ms IS NOT NULL;
CREATE INDEX job_by_end ON job (finished_ms) WHERE finished_ms IS NOT NULL;
CREATE UNIQUE INDEX job_unfinished ON job (job_id) WHERE finished_ms IS NULL;
CREATE INDEX job_finished ON job (job_id, finished_ms) WHERE finished_ms IS NOT NULL;

-- Byte strings of a request in pieces: blob 0 is vanilla_proof, blob i + 1 is vanilla_proofs[i].
CREATE TABLE payload (
  job   INTEGER NOT NULL,
  blob  INTEGER NOT NULL,
  piece INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  UNIQUE (job, blob, piece)
);

CREATE TABLE finished_partition (
  job    INTEGER NOT NULL,
  ix     INTEGER NOT NULL,
  proof  BLOB NOT NULL,
  sha256 BLOB NOT NULL,
  PRIMARY KEY (job, ix)
) WITHOUT ROWID;

-- Payloads in whose presence the process died, whatever became of their jobs.
CREATE TABLE crash (
  payload_digest TEXT PRIMARY KEY,
  times          INTEGER NOT NULL,
  last_ms        INTEGER NOT NULL
) WITHOUT ROWID;
)sql"};

constexpr std::int64_t kSchemaVersion = kMigrations.size();

/// The write-ahead log is carried over into the file when it is this long, and cut to it then.
constexpr std::int64_t kLogBytes = std::int64_t{64} << 20;

/// Vanilla proofs are nobody else's business: readable by the owner alone.
void make_private_file(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    base::fail<base::ResourceExhausted>(
        "{}: cannot be opened: {}; give the daemon a daemon.state_dir in which it may write",
        path.string(), std::strerror(errno));
  }
  ::close(descriptor);
  // A new file's name, too, is to survive a loss of power.
  const int folder = ::open(path.parent_path().empty() ? "." : path.parent_path().c_str(),
                            O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  ::fsync(folder);
  ::close(folder);
}

}  // namespace

JournalFile::JournalFile(const std::filesystem::path& path) : path_(path) {
  if (path_ == ":memory:") {
    open();
    return;
  }
  std::error_code ignored;  // what is missing shows when the lock is made
  std::filesystem::create_directories(path_.parent_path(), ignored);
  std::filesystem::path lock = path_;
  lock += ".lock";
  lock_.emplace(lock);
  make_private_file(path_);
  try {
    open();
    return;
  } catch (const base::CorruptData&) {
    // SQLite's check reports a page that cannot be read as damage. Only what is read in full and
    // found damaged again is given up.
    require_readable();
  }
  try {
    open();
  } catch (const base::CorruptData& error) {
    move_aside(error.what());
    make_private_file(path_);
    open();
  }
}

void JournalFile::require_readable() const {
  try {
    sqlite::Database(path_).read_through();
  } catch (const base::ResourceExhausted& error) {
    base::fail<base::ResourceExhausted>(
        "{}: the journal is left as it is: check the disk, or give the daemon a daemon.state_dir "
        "on "
        "another one",
        error.what());
  }
}

void JournalFile::open() {
  database_.emplace(path_);
  try {
    // Size and vacuum take effect in a new file only. Payloads come and go: large pages hold them
    // in fewer steps, and overwriting what was dropped would double the work.
    database_->execute(fmt::format("PRAGMA page_size = {}; PRAGMA auto_vacuum = INCREMENTAL;"
                                   "PRAGMA secure_delete = OFF; PRAGMA busy_timeout = 5000",
                                   kJournalPageBytes)
                           .c_str());
    check();
    database_->execute(fmt::format("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                                   "PRAGMA wal_autocheckpoint = {}; PRAGMA journal_size_limit = {}",
                                   kLogBytes / kJournalPageBytes, kLogBytes)
                           .c_str());
    migrate();
    count_crashes();
  } catch (...) {
    database_.reset();
    throw;
  }
}

void JournalFile::check() {
  const std::int64_t version = database_->integer("PRAGMA user_version");
  const std::int64_t application = database_->integer("PRAGMA application_id");
  if (version == 0 && application == 0 &&
      database_->integer("SELECT count(*) FROM sqlite_schema") == 0)
    return;
  base::require(application == kApplicationId,
                "{}: a database of another program: give the daemon another daemon.state_dir",
                path_.string());
  base::require(
      version <= kSchemaVersion,
      "{}: written by a newer cuzk (schema {}, this one knows {}): use that one, or move the "
      "file away",
      path_.string(), version, kSchemaVersion);
  const std::string report = database_->text("PRAGMA integrity_check(1)");
  if (report != "ok") base::fail<base::CorruptData>("{}: {}", path_.string(), report);
}

void JournalFile::migrate() {
  sqlite::Transaction transaction(*database_);
  const std::int64_t version = database_->integer("PRAGMA user_version");
  for (std::int64_t step = version; step < kSchemaVersion; ++step)
    database_->execute(kMigrations[static_cast<std::size_t>(step)]);
  if (version < kSchemaVersion) {
    database_->execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}",
                                   kApplicationId, kSchemaVersion)
                           .c_str());
  }
  transaction.commit();
}

void JournalFile::count_crashes() {
  sqlite::Transaction transaction(*database_);
  database_->run(
      "INSERT INTO crash SELECT DISTINCT payload_digest, 1, ?1 FROM job"
      " WHERE finished_ms IS NULL AND started"
      " ON CONFLICT (payload_digest) DO UPDATE SET times = times + 1, last_ms = ?1",
      {now_ms()});
  database_->run(
      "UPDATE job SET crashes = crashes + 1, started = 0 WHERE finished_ms IS NULL AND started",
      {});
  transaction.commit();
}

void JournalFile::move_aside(const std::string& reason) {
  const std::string suffix = fmt::format(".damaged-{}", now_ms());
  for (const char* part : {"", "-wal", "-shm"}) {
    std::filesystem::path from = path_, to = path_;
    from += part;
    to += suffix + part;
    std::error_code error;
    std::filesystem::rename(from, to, error);
    if (error && error != std::errc::no_such_file_or_directory)
      base::fail<base::ResourceExhausted>("{}: damaged ({}), and cannot be moved aside: {}",
                                          from.string(), reason, error.message());
  }
  recovered_ = fmt::format(
      "the journal was damaged ({}); it was moved to {} and a new one begun: jobs and results "
      "of before are not known any more",
      reason, path_.string() + suffix);
}

}  // namespace cuzk::engine

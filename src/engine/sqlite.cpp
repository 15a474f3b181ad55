#include "engine/sqlite.hpp"

#include "base/error.hpp"

#include <climits>
#include <stdexcept>
#include <vector>

namespace cuzk::engine::sqlite {

namespace {

[[noreturn]] void fail_with(sqlite3* handle, const std::string& name, int result) {
  const std::string text =
      fmt::format("{}: {}", name, handle ? sqlite3_errmsg(handle) : sqlite3_errstr(result));
  switch (result & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      throw base::CorruptData(text);
    case SQLITE_FULL:
      throw base::ResourceExhausted(text + ": free some space on its disk");
    case SQLITE_IOERR:
    case SQLITE_NOMEM:
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_TOOBIG:
    case SQLITE_PROTOCOL:
    case SQLITE_NOLFS:
      throw base::ResourceExhausted(text);
    default:
      throw std::logic_error(text);
  }
}

}  // namespace

Database::Database(const std::filesystem::path& path) : name_(path.string()) {
  // The caller serialises its calls.
  constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  const int result = sqlite3_open_v2(path.c_str(), &handle_, kFlags, nullptr);
  if (result == SQLITE_OK) {
    sqlite3_extended_result_codes(handle_, 1);
    return;
  }
  sqlite3* const handle = std::exchange(handle_, nullptr);
  try {
    fail_with(handle, name_, result);
  } catch (...) {
    sqlite3_close_v2(handle);
    throw;
  }
}

Database::~Database() { sqlite3_close_v2(handle_); }

void Database::execute(const char* sql) {
  const int result = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
  if (result != SQLITE_OK) fail_with(handle_, name_, result);
}

void Database::run(std::string_view sql, std::initializer_list<Value> values) {
  Statement statement(*this, sql, values);
  while (statement.next()) {
  }
}

std::int64_t Database::integer(std::string_view sql, std::initializer_list<Value> values) {
  Statement statement(*this, sql, values);
  return statement.next() ? statement.integer(0) : 0;
}

std::string Database::text(std::string_view sql) {
  Statement statement(*this, sql);
  return statement.next() ? statement.text(0) : "";
}

void Database::read_through() {
  sqlite3_file* file = nullptr;
  const int found = sqlite3_file_control(handle_, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (found != SQLITE_OK || file == nullptr || file->pMethods == nullptr) return;  // in memory
  constexpr int kPieceBytes = 1 << 20;
  std::vector<std::uint8_t> piece(kPieceBytes);
  sqlite3_int64 size = 0;
  int result = file->pMethods->xFileSize(file, &size);
  for (sqlite3_int64 at = 0; at < size && result == SQLITE_OK; at += kPieceBytes) {
    result = file->pMethods->xRead(file, piece.data(), kPieceBytes, at);
    if (result == SQLITE_IOERR_SHORT_READ) result = SQLITE_OK;  // the last piece
  }
  if (result != SQLITE_OK) {
    base::fail<base::ResourceExhausted>("{}: cannot be read: {}", name_, sqlite3_errstr(result));
  }
}

Statement::Statement(Database& database, std::string_view sql, std::initializer_list<Value> values)
    : database_(database) {
  sqlite3* const connection = database.handle();
  const auto check = [&](int result) {
    if (result == SQLITE_OK) return;
    try {
      fail_with(connection, database.name(), result);
    } catch (...) {
      sqlite3_finalize(handle_);
      throw;
    }
  };
  check(
      sqlite3_prepare_v2(connection, sql.data(), static_cast<int>(sql.size()), &handle_, nullptr));
  int index = 0;
  for (const Value& value : values) {
    ++index;
    if (const auto* integer = std::get_if<std::int64_t>(&value)) {
      check(sqlite3_bind_int64(handle_, index, *integer));
    } else if (const auto* text = std::get_if<std::string_view>(&value)) {
      const char* const data = text->data() ? text->data() : "";
      check(sqlite3_bind_text64(handle_, index, data, text->size(), SQLITE_STATIC, SQLITE_UTF8));
    } else {
      const base::ByteView bytes = std::get<base::ByteView>(value);
      const void* const data = bytes.data() ? static_cast<const void*>(bytes.data()) : "";
      check(sqlite3_bind_blob64(handle_, index, data, bytes.size(), SQLITE_STATIC));
    }
  }
}

bool Statement::next() {
  const int result = sqlite3_step(handle_);
  if (result == SQLITE_ROW) return true;
  if (result != SQLITE_DONE) fail_with(database_.handle(), database_.name(), result);
  return false;
}

std::string Statement::text(int column) {
  const unsigned char* const data = sqlite3_column_text(handle_, column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(handle_, column));
  return data ? std::string(reinterpret_cast<const char*>(data), size) : std::string();
}

base::ByteView Statement::view(int column) {
  const auto* const data = static_cast<const std::uint8_t*>(sqlite3_column_blob(handle_, column));
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(handle_, column))};
}

base::Bytes Statement::bytes(int column) {
  const base::ByteView bytes = view(column);
  return {bytes.begin(), bytes.end()};
}

void Statement::append(int column, base::Bytes& out) {
  const base::ByteView bytes = view(column);
  out.insert(out.end(), bytes.begin(), bytes.end());
}

Transaction::~Transaction() {
  // An error may have rolled it back already; then there is nothing to do, and nothing to report.
  if (open_) sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
  database_.execute("COMMIT");
  open_ = false;
}

}  // namespace cuzk::engine::sqlite

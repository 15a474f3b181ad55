#pragma once

#include "base/bytes.hpp"

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>

namespace cuzk::engine::sqlite {

/// A value to be bound to a `?` of a statement. Texts and bytes must live until the statement has
/// run. Unsigned numbers are kept as the signed ones of the same 64 bits.
using Value = std::variant<std::int64_t, std::string_view, base::ByteView>;
inline Value number(std::uint64_t value) { return static_cast<std::int64_t>(value); }

/// Errors of all functions here: CorruptData where the file is damaged or no database,
/// ResourceExhausted where it cannot be written or read (disk full, no memory, locked by another
/// program), std::logic_error for a wrong statement.
class Statement;

/// One connection to one file. Not for several threads at once.
class Database {
 public:
  /// Opens, and makes if need be, the file. ":memory:" has none.
  explicit Database(const std::filesystem::path& path);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// Runs statements that give no rows and have no parameters.
  void execute(const char* sql);
  /// Runs one statement with its parameters in order; rows are dropped.
  void run(std::string_view sql, std::initializer_list<Value> values);
  /// The first column of the first row, 0 if there is none.
  std::int64_t integer(std::string_view sql, std::initializer_list<Value> values = {});
  std::string text(std::string_view sql);

  /// Reads the file, without SQLite's log beside it, from end to end. Throws ResourceExhausted
  /// where the disk does not give it.
  void read_through();

  /// Rows changed by the last statement.
  std::int64_t changes() const { return sqlite3_changes64(handle_); }
  std::int64_t last_row() const { return sqlite3_last_insert_rowid(handle_); }
  sqlite3* handle() { return handle_; }
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  sqlite3* handle_ = nullptr;
};

/// A statement with its parameters bound, and its rows one after the other.
class Statement {
 public:
  Statement(Database& database, std::string_view sql, std::initializer_list<Value> values = {});
  ~Statement() { sqlite3_finalize(handle_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  /// Goes on to the next row; false after the last.
  bool next();
  std::int64_t integer(int column) { return sqlite3_column_int64(handle_, column); }
  std::uint64_t unsigned_integer(int column) { return static_cast<std::uint64_t>(integer(column)); }
  std::string text(int column);
  /// Lasts until the next call of next().
  base::ByteView view(int column);
  base::Bytes bytes(int column);
  void append(int column, base::Bytes& out);

 private:
  Database& database_;
  sqlite3_stmt* handle_ = nullptr;
};

/// A transaction that is rolled back unless committed.
class Transaction {
 public:
  explicit Transaction(Database& database) : database_(database) {
    database_.execute("BEGIN IMMEDIATE");
  }
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace cuzk::engine::sqlite

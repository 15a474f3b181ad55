#include "filecoin/meta.hpp"

#include "base/error.hpp"
#include "base/json_reader.hpp"
#include "filecoin/ids.hpp"

#include <array>

namespace cuzk::filecoin {

using base::JsonReader;
using curve::Fr;

namespace {

base::Bytes32 read_hex32(JsonReader& reader) {
  std::string scratch;
  const auto bytes = base::bytes32_from_hex(reader.string(scratch));
  if (!bytes) reader.reject("64 hex digits expected");
  return *bytes;
}

Fr read_hex_fr(JsonReader& reader) {
  const auto value = Fr::from_bytes_le(read_hex32(reader));
  if (!value) reader.reject("no field element: not below r");
  return *value;
}

/// What `parse` makes of the string; its complaint with the place.
template <class Parse>
auto read_as(JsonReader& reader, Parse&& parse) {
  std::string scratch;
  const std::string_view text = reader.string(scratch);
  try {
    return parse(text);
  } catch (const base::InvalidInput& error) {
    reader.reject("{}", error.what());
  }
}

Meta::Porep read_porep(JsonReader& reader) {
  static constexpr std::array<std::string_view, 7> kKeys = {
      "registered_proof", "sector_id", "comm_r", "comm_d", "replica_id", "seed", "ticket"};
  Meta::Porep porep;
  reader.fields(kKeys, 0, [&](std::size_t key) {
    switch (key) {
      case 0:
        porep.registered_proof = read_as(reader, seal_proof_from_name);
        break;
      case 1:
        porep.sector_number = reader.u64();
        break;
      case 2:
        porep.comm_r = read_hex_fr(reader);
        break;
      case 3:
        porep.comm_d = read_hex_fr(reader);
        break;
      case 4:
        porep.replica_id = read_hex_fr(reader);
        break;
      case 5:
        porep.seed = read_hex32(reader);
        break;
      default:
        porep.ticket = read_hex32(reader);
    }
  });
  return porep;
}

post::Sector read_sector(JsonReader& reader) {
  static constexpr std::array<std::string_view, 2> kKeys = {"sector_id", "comm_r"};
  post::Sector sector{};
  reader.fields(kKeys, [&](std::size_t key) {
    if (key == 0) {
      sector.number = reader.u64();
    } else {
      sector.comm_r = read_hex_fr(reader);
    }
  });
  return sector;
}

Meta::Post read_post(JsonReader& reader) {
  static constexpr std::array<std::string_view, 3> kKeys = {"randomness", "sectors", "api_version"};
  Meta::Post post{};
  reader.fields(kKeys, 0b011u, [&](std::size_t key) {
    if (key == 0) {
      post.randomness = read_hex32(reader);
    } else if (key == 1) {
      reader.array([&](std::size_t) { post.sectors.push_back(read_sector(reader)); });
    } else {
      post.api_version = read_as(reader, parse_api_version);
    }
  });
  return post;
}

Meta::Update read_update(JsonReader& reader) {
  static constexpr std::array<std::string_view, 4> kKeys = {"comm_r_old", "comm_d_new",
                                                            "comm_r_new", "h"};
  Meta::Update update{};
  reader.fields(kKeys, 0b0111u, [&](std::size_t key) {
    switch (key) {
      case 0:
        update.comm_r_old = read_hex_fr(reader);
        break;
      case 1:
        update.comm_d_new = read_hex_fr(reader);
        break;
      case 2:
        update.comm_r_new = read_hex_fr(reader);
        break;
      default:
        update.h = static_cast<unsigned>(reader.u64(64));
    }
  });
  return update;
}

/// Sets a value that two members may state.
template <class T>
void set(JsonReader& reader, std::optional<T>& to, const T& value, std::string_view other) {
  if (to && *to != value) reader.reject("it disagrees with '{}'", other);
  to = value;
}

SectorSize read_sector_bytes(JsonReader& reader) {
  const std::uint64_t bytes = reader.u64();
  try {
    return SectorSize(bytes);
  } catch (const base::InvalidInput& error) {
    reader.reject("{}", error.what());
  }
}

}  // namespace

Meta decode_meta(std::string_view json) {
  static constexpr std::array<std::string_view, 6> kKeys = {"size",     "sector_bytes", "prover_id",
                                                            "miner_id", "porep",        "update"};
  Meta meta;
  JsonReader reader(json, "meta file");
  std::uint32_t seen = 0;
  reader.object([&](std::string_view key) {
    std::size_t i = 0;
    while (i < kKeys.size() && kKeys[i] != key) ++i;
    if (i == kKeys.size()) {
      if (!key.starts_with("window") && !key.starts_with("winning")) return reader.skip();
      if (!meta.posts.try_emplace(std::string(key)).second) reader.reject("the key occurs twice");
      meta.posts[std::string(key)] = read_post(reader);
      return;
    }
    if (seen >> i & 1) reader.reject("the key occurs twice");
    seen |= 1u << i;
    switch (i) {
      case 0:
        set(reader, meta.sector_size, read_as(reader, SectorSize::parse), "sector_bytes");
        break;
      case 1:
        set(reader, meta.sector_size, read_sector_bytes(reader), "size");
        break;
      case 2:
        set(reader, meta.prover_id, read_hex32(reader), "miner_id");
        break;
      case 3:
        set(reader, meta.prover_id, prover_id(reader.u64()), "prover_id");
        break;
      case 4:
        meta.porep = read_porep(reader);
        break;
      default:
        meta.update = read_update(reader);
    }
  });
  reader.finish();
  return meta;
}

}  // namespace cuzk::filecoin

// SPDX-License-Identifier: Apache-2.0
// AddressRules: what FFmpeg may open on behalf of a file or an address. Playlists and the like name others, and who
// wrote them is a stranger. Any thread.
#pragma once

#include <string>

struct AVDictionary;

namespace matte {

/// Options for avformat_open_input(). A file opens no other. An address opens what its own scheme needs, nothing of
/// this machine, and only forms that hold pictures and sound; that of HTTP may be a playlist, whose parts come by HTTP
/// too.
void setRules(AVDictionary** options, const std::string& where, bool isAddress);

}  // namespace matte

// SPDX-License-Identifier: Apache-2.0
// Whether a video file was cut, for the forms of which FFmpeg does not tell. Any thread, one at a time for each format.
#pragma once

struct AVFormatContext;

namespace matte {

/// Whether the last part of an animated GIF, an Ogg file or a transport stream is not whole. False for other forms, and
/// for what is no file. Reads at the end.
bool isCutShort(AVFormatContext& format);

}  // namespace matte

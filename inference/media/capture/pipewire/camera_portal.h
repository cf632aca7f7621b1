// SPDX-License-Identifier: Apache-2.0
// Inside Flatpak and Snap the desktop's camera portal (org.freedesktop.portal.Camera, over D-Bus) hands out PipeWire's
// cameras, after it has asked the user. Any thread.
//   if (isSandboxed()) requestCameraAccess(stop);
//   const int remote = openCameraRemote();   // for pw_context_connect_fd
#pragma once

#include <stop_token>

namespace matte {

/// Whether this program runs inside Flatpak or Snap.
bool isSandboxed();

/// Waits for the user's answer, or the one that the desktop remembers. Throws Error(source) when the cameras may not be
/// used, or when there is nobody to ask; Cancelled when `stop` was asked for.
void requestCameraAccess(const std::stop_token& stop);

/// A connection to PipeWire that shows the cameras alone, to be closed by the caller; -1 when access was not given to
/// this program since it started, or when the portal does not answer within two seconds.
int openCameraRemote();

}  // namespace matte

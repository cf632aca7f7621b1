// SPDX-License-Identifier: Apache-2.0
// PrivacyPlaceholder: what is shown when no composite may be: the new background alone, without anything of the room.
// One thread at a time; the pictures any thread.
#pragma once

#include <memory>

#include "inference/core/composite_params.h"
#include "inference/core/picture.h"

namespace matte {

class PrivacyPlaceholder {
public:
    /// The background at `size`: its picture, its colour; dark grey for Kind::blur, whose blurred room is the room
    /// still; nothing at all for Kind::transparent. Made anew only when it would look different.
    std::shared_ptr<const Picture> over(const Background& background, Size size);

private:
    std::shared_ptr<const Picture> picture_;
    Background background_;
};

}  // namespace matte

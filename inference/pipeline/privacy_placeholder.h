// SPDX-License-Identifier: Apache-2.0
// PrivacyPlaceholder: the picture to show when a composite is not allowed or not available: the new background alone,
// with nothing of the room. One thread at a time; its pictures on any thread.
#pragma once

#include <memory>

#include "inference/core/composite_params.h"
#include "inference/core/picture.h"

namespace matte {

class PrivacyPlaceholder {
public:
    /// The background at `size`: its picture or colour; dark grey for Kind::blur, since a blurred room is still the
    /// room; fully transparent for Kind::transparent. Rendered again only when it would look different.
    std::shared_ptr<const Picture> over(const Background& background, Size size);

private:
    std::shared_ptr<const Picture> picture_;
    Background background_;
};

}  // namespace matte

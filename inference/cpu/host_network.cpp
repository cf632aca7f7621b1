// SPDX-License-Identifier: Apache-2.0
#include "inference/cpu/host_network.h"

#include <algorithm>

#include "inference/matting/resample.h"

namespace matte {

void HostNetwork::see(const ImageView& source) {
    const Planes picture = resampleToPlanes(source, size());
    const auto mean = unet().mean(), deviation = unet().deviation();
    float* values = input();
    for (std::size_t i = 0; i < picture.values.size(); ++i) {
        values[i] = (picture.values[i] - mean[i % 3]) / deviation[i % 3];
    }
}

Planes HostNetwork::matte() const {
    Planes matte(size(), 1);
    std::copy_n(alpha(), matte.values.size(), matte.values.begin());
    return matte;
}

}  // namespace matte

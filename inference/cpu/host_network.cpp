// SPDX-License-Identifier: Apache-2.0
#include "inference/cpu/host_network.h"

#include <algorithm>
#include <utility>

#include "inference/matting/resample.h"

namespace matte {

void HostNetwork::setInput(const Planes& picture) {
    const auto mean = unet().mean(), deviation = unet().deviation();
    float* values = input();
    for (std::size_t i = 0; i < picture.values.size(); i += 3) {
        for (std::size_t c = 0; c < 3; ++c) values[i + c] = (picture.values[i + c] - mean[c]) / deviation[c];
    }
}

void HostNetwork::runStill(std::stop_token stop, std::vector<float>* layerMs) {
    if (unet().isRecurrent()) {
        std::ranges::fill(state(), 0.0F);
        run(stop, nullptr);
    }
    run(std::move(stop), layerMs);
}

void HostNetwork::readMatte(Planes& matte) const {
    reshape(matte, size(), 1);
    std::copy_n(alpha(), matte.values.size(), matte.values.begin());
}

Planes HostNetwork::matteOf(const ImageView& picture) {
    configure(picture.size);
    setInput(resampleToPlanes(picture, picture.size));
    runStill({}, nullptr);
    Planes matte;
    readMatte(matte);
    return matte;
}

}  // namespace matte

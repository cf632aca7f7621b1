// SPDX-License-Identifier: Apache-2.0
#include "inference/ladder/matte.h"

#include "inference/cpu/resample.h"

namespace matte::ladder {

MethodMatte matteBy(NetworkMethod& network, const UNet& unet, const ImageView& picture, int longestSide) {
    const Size size = unet.inputSize(picture.size, longestSide);
    Planes input = resampleToPlanes(picture, size);
    const auto mean = unet.mean(), deviation = unet.deviation();
    for (std::size_t i = 0; i < input.values.size(); ++i) {
        input.values[i] = (input.values[i] - mean[i % 3]) / deviation[i % 3];
    }
    MethodMatte matte{Planes(size, 1), {}};
    network.configure(size);
    matte.report = network.run(input.values, matte.alpha.values);
    return matte;
}

}  // namespace matte::ladder

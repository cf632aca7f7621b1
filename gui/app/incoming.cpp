// SPDX-License-Identifier: Apache-2.0
#include "gui/app/incoming.h"

#include <QMimeData>
#include <QUrl>

#include "inference/core/error.h"

namespace matte {

bool mayHoldPhoto(const QMimeData& data) {
    return data.hasUrls() || data.hasImage();
}

PhotoSource photoFrom(const QMimeData& data) {
    const QList<QUrl> urls = data.urls();
    for (const QUrl& url : urls) {
        if (url.isLocalFile()) return PhotoSource::fromFile(url.toLocalFile());
    }
    const auto pixels = qvariant_cast<QImage>(data.imageData());
    if (!pixels.isNull()) return PhotoSource::fromPixels(pixels, PhotoSession::tr("Pasted picture"));
    if (!urls.isEmpty()) {
        throw Error(ErrorCategory::input,
                    "That is only the address of a picture: save it to this computer and open the file.");
    }
    throw Error(ErrorCategory::input, "The clipboard holds no picture: copy one, or a picture file, and paste again.");
}

}  // namespace matte

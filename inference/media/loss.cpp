// SPDX-License-Identifier: Apache-2.0
#include "inference/media/loss.h"

#include <vector>

namespace matte {
namespace {

std::string counted(std::uint64_t count, const char* one, const char* many) {
    return std::to_string(count) + " " + (count == 1 ? one : many);
}

/// "3 of 200 frames"
std::string framesOf(std::uint64_t count, std::uint64_t all) {
    return all > count ? std::to_string(count) + " of " + std::to_string(all) + " frames"
                       : counted(count, "frame", "frames");
}

/// "a, b and c"
std::string listed(const std::vector<std::string>& parts) {
    std::string list;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        list += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
    }
    return list;
}

}  // namespace

bool Loss::any() const {
    return frames + damagedFrames + soundPackets + soundUnwritten + readErrors > 0 || endsEarly ||
           !soundProblem.empty() || !encoderProblem.empty();
}

std::string Loss::sentence(const std::string& name) const {
    const auto sound = [](std::uint64_t count) { return counted(count, "sound packet", "sound packets"); };
    std::vector<std::string> unread, clauses;
    if (frames > 0) unread.push_back(framesOf(frames, ofFrames));
    if (soundPackets > 0) unread.push_back(sound(soundPackets));
    if (unread.empty() && endsEarly) unread.emplace_back("the end");
    if (!unread.empty()) clauses.push_back(listed(unread) + " of " + name + " could not be read");
    const auto ofIt = [&] { return clauses.empty() ? " of " + name : std::string(); };
    if (damagedFrames > 0) {
        clauses.push_back((frames > 0 ? std::to_string(damagedFrames) : framesOf(damagedFrames, ofFrames)) + ofIt() +
                          (damagedFrames == 1 ? " is damaged" : " are damaged"));
    }
    if (clauses.empty() && readErrors > 0) clauses.push_back(name + " could not be read without errors");
    const std::string reason = clauses.empty()  ? ""
                               : readErrors > 0 ? ": reading failed " + counted(readErrors, "time", "times")
                               : endsEarly      ? ": the file ends early"
                                                : ": the file is damaged";
    if (soundUnwritten > 0) {
        clauses.push_back(sound(soundUnwritten) + ofIt() + " could not be written because of the file's times");
    }
    std::string said = clauses.empty() ? "" : listed(clauses) + reason + ".";
    if (said.starts_with("the end")) said[0] = 'T';
    for (const std::string& problem : {soundProblem, encoderProblem}) {
        if (!problem.empty()) said += (said.empty() ? "" : " ") + problem;
    }
    return said;
}

Loss& Loss::operator+=(const Loss& other) {
    frames += other.frames;
    ofFrames += other.ofFrames;
    damagedFrames += other.damagedFrames;
    soundPackets += other.soundPackets;
    soundUnwritten += other.soundUnwritten;
    readErrors += other.readErrors;
    endsEarly = endsEarly || other.endsEarly;
    if (soundProblem.empty()) soundProblem = other.soundProblem;
    if (encoderProblem.empty()) encoderProblem = other.encoderProblem;
    return *this;
}

}  // namespace matte

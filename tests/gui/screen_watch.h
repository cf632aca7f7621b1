// SPDX-License-Identifier: Apache-2.0
// ScreenWatch: a program of its own beside the window under test, so that it sees what the display shows and goes on
// while that program stands still: it takes pictures of the whole screen at a rate, counts the pixels of the known room
// in each, and lets the program that started it have a part of a processor only, by stopping it and letting it go on.
//
//     gui_tests ScreenWatch PICTURES SEED STARVE WORST.png
//
// Prints a line for each picture: the room's pixels, and how many the pixel in the background's colour are. With STARVE
// 1 the program that started it has 3, 10, 20 or 100 % of the time, in turns of two seconds. The worst picture is kept.
#pragma once

namespace matte::test {

int runScreenWatch(int argc, char** argv);

}  // namespace matte::test

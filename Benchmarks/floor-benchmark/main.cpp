// Without arguments all cases, otherwise the named ones; with --cpu processor time instead of wall-clock time.

#include <algorithm>
#include <ctime>

#include "Harness.hpp"

static clockid_t chosenClock = CLOCK_MONOTONIC;

double now() {
    timespec time;
    clock_gettime(chosenClock, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

void fail(const std::string& message) {
    std::printf("{\"error\": \"%s\"}\n", message.c_str());
    std::exit(1);
}

int main(int argc, char** argv) {
    std::vector<Case> all;
    for (const auto& group : {kairoCases(), cellxCases(), sbenchCases(), dynamicCases()}) {
        all.insert(all.end(), group.begin(), group.end());
    }
    std::vector<std::string> names;
    for (int i = 1; i < argc; ++i) {
        const std::string argument = argv[i];
        const auto isNamed = [&](const Case& row) { return row.name == argument; };
        if (argument == "--cpu") {
            chosenClock = CLOCK_THREAD_CPUTIME_ID;
        } else if (std::any_of(all.begin(), all.end(), isNamed)) {
            names.push_back(argument);
        } else {
            fail("no case is called " + argument);
        }
    }
    const auto isChosen = [&](const Case& row) {
        return names.empty() || std::find(names.begin(), names.end(), row.name) != names.end();
    };
    for (const Case& row : all) {
        if (isChosen(row)) row.warmUp();
    }
    for (const Case& row : all) {
        if (!isChosen(row)) continue;
        reactive::engine.rewind();
        const Measurement result = row.measure();
        std::printf(
            "{\"case\": \"%s\", \"ms\": %.2f, \"evaluations\": %llu}\n", row.name.c_str(), result.milliseconds,
            static_cast<unsigned long long>(result.evaluations));
        std::fflush(stdout);
    }
}

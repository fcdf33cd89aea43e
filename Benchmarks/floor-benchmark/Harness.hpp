#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "Engine.hpp"

struct Measurement {
    double milliseconds = 0;
    /// Rules and effects run in the measured part.
    std::uint64_t evaluations = 0;
};

/// One row of the table.
struct Case {
    std::string name;
    /// Builds the graph once and lets it run a little, before anything is measured.
    std::function<void()> warmUp;
    std::function<Measurement()> measure;
};

std::vector<Case> kairoCases();
std::vector<Case> cellxCases();
std::vector<Case> sbenchCases();
std::vector<Case> dynamicCases();

/// Milliseconds on the monotonic clock, or of processor time if that was asked for.
double now();

[[noreturn]] void fail(const std::string& message);

/// Results are part of what is measured: a wrong one ends the program.
inline void check(double actual, double expected, const char* what) {
    if (actual == expected) return;
    fail(std::string(what) + ": " + std::to_string(actual) + " instead of " + std::to_string(expected));
}

template <class Body>
Measurement timed(Body body) {
    const std::uint64_t before = reactive::engine.evaluations;
    const double start = now();
    body();
    return {now() - start, reactive::engine.evaluations - before};
}

/// The fastest of several measurements.
template <class Body>
Measurement fastest(int count, Body body) {
    Measurement best = body();
    for (int i = 1; i < count; ++i) {
        const Measurement next = body();
        if (next.milliseconds < best.milliseconds) best = next;
    }
    return best;
}

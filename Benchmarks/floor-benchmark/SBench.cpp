// Creating and updating effects in bulk, disposal included; the fastest of ten runs.

#include <algorithm>
#include <optional>

#include "Harness.hpp"

using namespace reactive;

namespace {

using Sources = std::vector<Node*>;

struct SBenchCase {
    const char* name;
    int count;
    int sourceCount;
    /// What is measured: builds `n` things over the sources, and perhaps updates them.
    void (*body)(int n, Sources& sources);
};

double readNothing(Node&) { return 0; }
double readOne(Node& self) { return Reads(self)[self.captures[0]]; }

template <int count>
double readRow(Node& self) {
    Node** sources = &self.captures[0].as<Node*>();
    Reads reads(self);
    double sum = 0;
    for (int i = 0; i < count; ++i) sum += reads[*sources[i]];
    return sum;
}

/// Effects that each read `count` consecutive sources.
template <int count>
void createRows(int n, Sources& sources) {
    for (int i = 0; i < n; ++i) engine.effect(readRow<count>, &sources[count * i]);
}

/// Effects that read one source each, `readers` on every source.
template <int readers>
void createReaders(int n, Sources& sources) {
    for (int i = 0; i < n / readers; ++i) {
        for (int k = 0; k < readers; ++k) engine.effect(readOne, *sources[i]);
    }
}

void writeFirst(int times, Sources& sources) {
    for (int i = 0; i < times; ++i) set(*sources[0], i);
}

/// One effect that reads all sources, and `n` writes.
template <int count>
void updateRow(int n, Sources& sources) {
    createRows<count>(1, sources);
    writeFirst(n, sources);
}

/// Effects on one source, and `n` writes.
template <int readers>
void updateReaders(int n, Sources& sources) {
    createReaders<readers>(readers, sources);
    writeFirst(n, sources);
}

Measurement run(const SBenchCase& row, int n) {
    std::optional<Scope> scope(std::in_place);
    Sources sources;
    for (int i = 0; i < row.sourceCount; ++i) sources.push_back(&engine.input(i));
    for (int i = 0; i < 3; ++i) {
        for (Node* source : sources) engine.peek(*source);
    }
    return timed([&] {
        row.body(n, sources);
        scope.reset();
    });
}

const SBenchCase cases[] = {
    {"createSignals", 100'000, 100'000, [](int n, Sources&) { for (int i = 0; i < n; ++i) engine.input(i); }},
    {"create0to1", 100'000, 0, [](int n, Sources&) { for (int i = 0; i < n; ++i) engine.effect(readNothing); }},
    {"create1to1", 100'000, 100'000, createReaders<1>},
    {"create2to1", 50'000, 100'000, createRows<2>},
    {"create4to1", 25'000, 100'000, createRows<4>},
    {"create1000to1", 100, 100'000, createRows<1000>},
    {"create1to2", 100'000, 50'000, createReaders<2>},
    {"create1to4", 100'000, 25'000, createReaders<4>},
    {"create1to8", 100'000, 12'500, createReaders<8>},
    {"create1to1000", 100'000, 100, createReaders<1000>},
    {"update1to1", 400'000, 1, updateReaders<1>},
    {"update2to1", 200'000, 2, updateRow<2>},
    {"update4to1", 100'000, 4, updateRow<4>},
    {"update1000to1", 400, 1000, updateRow<1000>},
    {"update1to2", 100'000, 1, updateReaders<2>},
    {"update1to4", 100'000, 1, updateReaders<4>},
    {"update1to8", 100'000, 1, updateReaders<8>},
    {"update1to1000", 100'000, 1, [](int n, Sources& sources) { updateReaders<1000>(n / 10, sources); }},
};

}  // namespace

std::vector<Case> sbenchCases() {
    std::vector<Case> rows;
    for (const SBenchCase& row : cases) {
        rows.push_back({
            row.name,
            [&row] { for (int i = 0; i < 3; ++i) run(row, std::max(1, row.count / 100)); },
            [&row] { return fastest(10, [&] { return run(row, row.count); }); },
        });
    }
    return rows;
}

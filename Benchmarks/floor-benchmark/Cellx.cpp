// Layers of four rules and four effects; the sum of ten runs, each on a graph of its own.

#include <array>

#include "Harness.hpp"

using namespace reactive;

namespace {

using Layer = std::array<Node*, 4>;

double same(Node& self) { return Reads(self)[self.captures[0]]; }

double difference(Node& self) {
    Reads reads(self);
    return reads[self.captures[0]] - reads[self.captures[1]];
}

double sum(Node& self) {
    Reads reads(self);
    return reads[self.captures[0]] + reads[self.captures[1]];
}

void checkEnd(const Layer& end, const std::array<double, 4>& expected, const char* what) {
    for (std::size_t i = 0; i < end.size(); ++i) check(engine.peek(*end[i]), expected[i], what);
}

Measurement run(int layers) {
    const Scope scope;
    Layer start;
    for (int i = 0; i < 4; ++i) start[i] = &engine.input(i + 1);
    Layer end = start;
    for (int i = 0; i < layers; ++i) {
        const Layer m = end;
        end = {
            &engine.rule(same, *m[1]),
            &engine.rule(difference, *m[0], *m[2]),
            &engine.rule(sum, *m[1], *m[3]),
            &engine.rule(same, *m[2]),
        };
        for (Node* rule : end) engine.effect(same, *rule);
    }
    return timed([&] {
        checkEnd(end, {-3, -6, -2, 2}, "before");
        engine.batch([&] {
            for (int i = 0; i < 4; ++i) engine.write(*start[i], 4 - i);
        });
        checkEnd(end, {-2, -4, 2, 3}, "after");
    });
}

Case row(int layers) {
    return {
        "cellx" + std::to_string(layers),
        [] { run(1000); },
        [layers] {
            Measurement total;
            for (int i = 0; i < 10; ++i) {
                const Measurement one = run(layers);
                total.milliseconds += one.milliseconds;
                total.evaluations += one.evaluations;
            }
            return total;
        },
    };
}

}  // namespace

std::vector<Case> cellxCases() { return {row(1000), row(2500)}; }

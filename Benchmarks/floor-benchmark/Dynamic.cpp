// Grids of rules, some of which skip an input depending on what they read; the fastest of five runs on one graph.

#include <algorithm>
#include <cmath>

#include "Harness.hpp"

using namespace reactive;

namespace {

struct Shape {
    const char* name;
    int width;
    int layers;
    int sources;
    double staticFraction;
    double readFraction;
    int iterations;
    double expectedSum;
    double expectedCount;
};

/// sfc32, seeded by xmur3a("seed"): the generator of the original, so that the graphs are the same.
class SeededRandom {
public:
    SeededRandom() {
        for (const char character : {'s', 'e', 'e', 'd'}) {
            hash_ ^= rotated(static_cast<std::uint32_t>(character) * 3432918353U, 15) * 461845907U;
            hash_ = rotated(hash_, 13) * 5 + 3864292196U;
        }
        hash_ ^= 4;
        a_ = draw();
        b_ = draw();
        c_ = draw();
        d_ = draw();
    }

    double next() {
        std::uint32_t t = a_ + b_;
        a_ = b_ ^ (b_ >> 9);
        b_ = c_ + (c_ << 3);
        c_ = rotated(c_, 21);
        d_ += 1;
        t += d_;
        c_ += t;
        return t / 4294967296.0;
    }

private:
    static std::uint32_t rotated(std::uint32_t bits, int count) { return bits << count | bits >> (32 - count); }

    std::uint32_t draw() {
        hash_ ^= hash_ >> 16;
        hash_ *= 2246822507U;
        hash_ ^= hash_ >> 13;
        hash_ *= 3266489909U;
        hash_ ^= hash_ >> 16;
        return hash_;
    }

    std::uint32_t hash_ = 2166136261U;
    std::uint32_t a_, b_, c_, d_;
};

/// What all rules of a grid share.
struct Grid {
    int sources;
    long count;
};

double sum(Node& self) {
    Node** inputs = &self.captures[0].as<Node*>();
    Grid& grid = self.captures[1].as<Grid>();
    ++grid.count;
    Reads reads(self);
    double sum = 0;
    for (int i = 0; i < grid.sources; ++i) sum += reads[*inputs[i]];
    return sum;
}

double skippingSum(Node& self) {
    Node** inputs = &self.captures[0].as<Node*>();
    Grid& grid = self.captures[1].as<Grid>();
    ++grid.count;
    Reads reads(self);
    double sum = reads[*inputs[0]];
    const auto whole = static_cast<std::int64_t>(sum);
    const std::int64_t dropped = whole & 1 ? 1 + whole % (grid.sources - 1) : 0;
    for (int i = 1; i < grid.sources; ++i) {
        if (i != dropped) sum += reads[*inputs[i]];
    }
    return sum;
}

double readLeaves(Node& self) {
    Reads reads(self);
    for (Node* leaf : self.captures[0].as<std::vector<Node*>>()) reads[*leaf];
    return 0;
}

class DynamicGraph {
public:
    explicit DynamicGraph(const Shape& shape) : grid_{shape.sources, 0} {
        for (int i = 0; i < shape.width; ++i) inputs_.push_back(&engine.input(i));
        // The rules point into it, so it must not grow beyond.
        ruleInputs_.reserve(static_cast<std::size_t>(shape.width) * (shape.layers - 1) * shape.sources);
        SeededRandom random;
        std::vector<Node*> row = inputs_;
        for (int layer = 1; layer < shape.layers; ++layer) {
            const std::vector<Node*> previous = row;
            for (int i = 0; i < shape.width; ++i) {
                Node** mine = ruleInputs_.data() + ruleInputs_.size();
                for (int k = 0; k < shape.sources; ++k) ruleInputs_.push_back(previous[(i + k) % shape.width]);
                const Rule rule = random.next() < shape.staticFraction ? sum : skippingSum;
                row[i] = &engine.rule(rule, mine, &grid_);
            }
        }
        leaves_ = row;
        SeededRandom pick;
        const long skipped = std::lround(shape.width * (1 - shape.readFraction));
        for (long i = 0; i < skipped; ++i) {
            leaves_.erase(leaves_.begin() + static_cast<std::ptrdiff_t>(pick.next() * static_cast<double>(leaves_.size())));
        }
        engine.effect(readLeaves, &leaves_);
    }

    DynamicGraph(const DynamicGraph&) = delete;
    DynamicGraph& operator=(const DynamicGraph&) = delete;

    double run(int iterations) {
        const int width = static_cast<int>(inputs_.size());
        for (int i = 0; i < iterations; ++i) {
            const int source = i % width;
            set(*inputs_[source], i + source);
            for (Node* leaf : leaves_) engine.peek(*leaf);
        }
        double total = 0;
        for (auto leaf = leaves_.rbegin(); leaf != leaves_.rend(); ++leaf) total = engine.peek(**leaf) + total;
        return total;
    }

    Measurement measure(const Shape& shape) {
        grid_.count = 0;
        return timed([&] {
            check(run(shape.iterations), shape.expectedSum, "sum");
            check(static_cast<double>(grid_.count), shape.expectedCount, "count");
        });
    }

private:
    const Scope scope_;
    Grid grid_;
    std::vector<Node*> inputs_;
    std::vector<Node*> ruleInputs_;
    std::vector<Node*> leaves_;
};

const Shape shapes[] = {
    {"simple component", 10, 5, 2, 1, 0.2, 600'000, 19'199'968, 3'480'000},
    {"dynamic component", 10, 10, 6, 0.75, 0.2, 15'000, 302'310'782'860, 1'155'000},
    {"large web app", 1000, 12, 4, 0.95, 1, 7000, 29'355'933'696'000, 1'463'000},
    {"wide dense", 1000, 5, 25, 1, 1, 3000, 1'171'484'375'000, 732'000},
    {"deep (dynamic)", 5, 500, 3, 1, 1, 500, 3.0239642676898464e241, 1'246'500},
    {"very dynamic", 100, 15, 6, 0.5, 1, 2000, 15'664'996'402'790'400, 1'078'000},
};

}  // namespace

std::vector<Case> dynamicCases() {
    std::vector<Case> rows;
    for (const Shape& shape : shapes) {
        rows.push_back({
            shape.name,
            [&shape] { DynamicGraph(shape).run(std::max(1, shape.iterations / 100)); },
            [&shape] {
                DynamicGraph graph(shape);
                for (int i = 0; i < 3; ++i) graph.run(shape.iterations);
                return fastest(5, [&] { return graph.measure(shape); });
            },
        });
    }
    return rows;
}

// The eight small graphs of the kairo suite: the fastest of ten samples of 500 iterations on one graph.

#include <array>

#include "Harness.hpp"

using namespace reactive;

namespace {

/// A hundred increments that the compiler must keep.
void busy(int& number) {
    for (int i = 0; i < 100; ++i) {
        ++number;
        asm volatile("" : "+m"(number));
    }
}

double plusOne(Node& self) { return Reads(self)[self.captures[0]] + 1; }

/// The sum of all nodes of a vector.
double sumOf(Node& self) {
    Reads reads(self);
    double sum = 0;
    for (Node* term : self.captures[0].as<std::vector<Node*>>()) sum += reads[*term];
    return sum;
}

/// An effect that counts its runs.
double countRun(Node& self) {
    ++self.captures[1].as<int>();
    return Reads(self)[self.captures[0]];
}

struct Avoidable {
    const Scope scope;
    int work = 0;
    Node& head = engine.input(0);
    Node* end;

    Avoidable() {
        Node& c1 = engine.rule([](Node& self) { return Reads(self)[self.captures[0]]; }, head);
        Node& c2 = engine.rule([](Node& self) { return Reads(self)[self.captures[0]], 0.0; }, c1);
        const Rule busyPlusOne = [](Node& self) {
            busy(self.captures[1].as<int>());
            return plusOne(self);
        };
        const Rule add = [](Node& self) { return Reads(self)[self.captures[0]] + self.captures[1].number; };
        const Rule readBusily = [](Node& self) {
            const double value = Reads(self)[self.captures[0]];
            busy(self.captures[1].as<int>());
            return value;
        };
        Node& c3 = engine.rule(busyPlusOne, c2, &work);
        Node& c4 = engine.rule(add, c3, 2);
        end = &engine.rule(add, c4, 3);
        engine.effect(readBusily, *end, &work);
    }

    void iterate() {
        set(head, 1);
        check(engine.peek(*end), 6, "avoidable");
        for (int i = 0; i < 1000; ++i) {
            set(head, i);
            check(engine.peek(*end), 6, "avoidable");
        }
    }
};

struct Broad {
    const Scope scope;
    int runs = 0;
    Node& head = engine.input(0);
    Node* last;

    Broad() {
        const Rule add = [](Node& self) { return Reads(self)[self.captures[0]] + self.captures[1].number; };
        for (int i = 0; i < 50; ++i) {
            last = &engine.rule(plusOne, engine.rule(add, head, i));
            engine.effect(countRun, *last, &runs);
        }
    }

    void iterate() {
        set(head, 1);
        runs = 0;
        for (int i = 0; i < 50; ++i) {
            set(head, i);
            check(engine.peek(*last), i + 50, "broad");
        }
        check(runs, 50 * 50, "runs of broad");
    }
};

struct Deep {
    const Scope scope;
    int runs = 0;
    Node& head = engine.input(0);
    Node* last = &head;

    Deep() {
        for (int i = 0; i < 50; ++i) last = &engine.rule(plusOne, *last);
        engine.effect(countRun, *last, &runs);
    }

    void iterate() {
        set(head, 1);
        runs = 0;
        for (int i = 0; i < 50; ++i) {
            set(head, i);
            check(engine.peek(*last), 50 + i, "deep");
        }
        check(runs, 50, "runs of deep");
    }
};

struct Diamond {
    const Scope scope;
    int runs = 0;
    std::vector<Node*> arms;
    Node& head = engine.input(0);
    Node& sum = engine.rule(sumOf, &arms);

    Diamond() {
        for (int i = 0; i < 5; ++i) arms.push_back(&engine.rule(plusOne, head));
        engine.effect(countRun, sum, &runs);
    }

    void iterate() {
        set(head, 1);
        check(engine.peek(sum), 10, "diamond");
        runs = 0;
        for (int i = 0; i < 500; ++i) {
            set(head, i);
            check(engine.peek(sum), (i + 1) * 5, "diamond");
        }
        check(runs, 500, "runs of diamond");
    }
};

/// The table is a fresh one each time; the node's value only tells one table from the next.
struct Mux {
    static constexpr int width = 100;

    const Scope scope;
    std::array<Node*, width> heads;
    std::array<Node*, width> ends;
    double* table = nullptr;
    double version = 0;
    Node& mux = engine.rule(makeTable, this);

    Mux() {
        const Rule element = [](Node& self) {
            Mux& all = self.captures[0].as<Mux>();
            Reads reads(self);
            reads[all.mux];
            return all.table[static_cast<int>(self.captures[1].number)];
        };
        for (Node*& head : heads) head = &engine.input(0);
        for (int i = 0; i < width; ++i) {
            ends[i] = &engine.rule(plusOne, engine.rule(element, this, i));
        }
        for (Node* end : ends) {
            engine.effect([](Node& self) { return Reads(self)[self.captures[0]]; }, *end);
        }
    }

    ~Mux() { std::free(table); }

    static double makeTable(Node& self) {
        Mux& all = self.captures[0].as<Mux>();
        auto* table = static_cast<double*>(std::malloc(width * sizeof(double)));
        if (!table) std::abort();
        Reads reads(self);
        for (int i = 0; i < width; ++i) table[i] = reads[*all.heads[i]];
        std::free(all.table);
        all.table = table;
        return ++all.version;
    }

    void iterate() {
        for (int factor = 1; factor <= 2; ++factor) {
            for (int i = 0; i < 10; ++i) {
                set(*heads[i], factor * i);
                check(engine.peek(*ends[i]), factor * i + 1, "mux");
            }
        }
    }
};

struct Repeated {
    const Scope scope;
    int runs = 0;
    Node& head = engine.input(0);
    Node* sum;

    Repeated() {
        const Rule readRepeatedly = [](Node& self) {
            Reads reads(self);
            double total = 0;
            for (int i = 0; i < 30; ++i) total += reads[self.captures[0]];
            return total;
        };
        sum = &engine.rule(readRepeatedly, head);
        engine.effect(countRun, *sum, &runs);
    }

    void iterate() {
        set(head, 1);
        check(engine.peek(*sum), 30, "repeated");
        runs = 0;
        for (int i = 0; i < 100; ++i) {
            set(head, i);
            check(engine.peek(*sum), 30 * i, "repeated");
        }
        check(runs, 100, "runs of repeated");
    }
};

struct Triangle {
    const Scope scope;
    int runs = 0;
    std::vector<Node*> list;
    Node& head = engine.input(0);
    Node& sum = engine.rule(sumOf, &list);

    Triangle() {
        Node* current = &head;
        for (int i = 0; i < 10; ++i) {
            list.push_back(current);
            current = &engine.rule(plusOne, *current);
        }
        engine.effect(countRun, sum, &runs);
    }

    void iterate() {
        set(head, 1);
        check(engine.peek(sum), 55, "triangle");
        runs = 0;
        for (int i = 0; i < 100; ++i) {
            set(head, i);
            check(engine.peek(sum), 45 + 10 * i, "triangle");
        }
        check(runs, 100, "runs of triangle");
    }
};

struct Unstable {
    const Scope scope;
    int runs = 0;
    Node& head = engine.input(0);
    Node& twice = engine.rule([](Node& self) { return Reads(self)[self.captures[0]] * 2; }, head);
    Node& inverse = engine.rule([](Node& self) { return -Reads(self)[self.captures[0]]; }, head);
    Node& current = engine.rule(alternate, this);

    Unstable() { engine.effect(countRun, current, &runs); }

    static double alternate(Node& self) {
        Unstable& all = self.captures[0].as<Unstable>();
        Reads reads(self);
        double total = 0;
        for (int i = 0; i < 20; ++i) {
            const bool isOdd = static_cast<std::int64_t>(reads[all.head]) & 1;
            total += reads[isOdd ? all.twice : all.inverse];
        }
        return total;
    }

    void iterate() {
        set(head, 1);
        check(engine.peek(current), 40, "unstable");
        runs = 0;
        for (int i = 0; i < 100; ++i) set(head, i);
        check(runs, 100, "runs of unstable");
    }
};

template <class Graph>
Case row(const char* name) {
    return {
        name,
        [] {
            Graph graph;
            for (int i = 0; i < 3; ++i) graph.iterate();
        },
        [] {
            Graph graph;
            for (int i = 0; i < 3; ++i) graph.iterate();
            return fastest(10, [&] {
                return timed([&] {
                    for (int i = 0; i < 500; ++i) graph.iterate();
                });
            });
        },
    };
}

}  // namespace

std::vector<Case> kairoCases() {
    return {
        row<Avoidable>("avoidable"),   row<Broad>("broad"),       row<Deep>("deep (kairo)"),  row<Diamond>("diamond"),
        row<Mux>("mux"),               row<Repeated>("repeated"), row<Triangle>("triangle"), row<Unstable>("unstable"),
    };
}

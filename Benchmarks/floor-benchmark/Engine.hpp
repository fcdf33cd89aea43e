#pragma once

// A bare reactive engine: what linked edges, marking and pulling cost with nothing around them. It knows no errors, no
// cleanups, no cycles, no stale handles and no threads, and rules must not write. The figures of agd's engine are compared
// with its figures.
//
// Every edge is in two intrusive lists: in its reader's inputs, in the order in which they are read, and in its input's
// readers. A write marks what is downstream; a pull looks through the marked inputs and runs only what an input has really
// changed for.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>
#include <vector>

namespace reactive {

struct Node;

struct Edge {
    Node* input;
    Edge* nextInput;
    Node* reader;
    Edge* nextReader;
    Edge* previousReader;
    /// Ascends along a reader's inputs. While the reader runs, the edges up to the position it has reached have been read,
    /// and those behind have higher positions. So edges that are read again in the same order need not be written to.
    std::uint32_t position;
};

enum class State : std::uint8_t {
    clean,
    /// Something upstream has been written; whether an input changes is not known yet.
    pending,
    dirty,
};

/// What a rule captures: no allocation per closure.
union Capture {
    Capture() : pointer(nullptr) {}
    Capture(Node& node) : node(&node) {}
    Capture(double number) : number(number) {}
    Capture(void* pointer) : pointer(pointer) {}

    Node* node;
    double number;
    void* pointer;

    template <class T>
    T& as() const { return *static_cast<T*>(pointer); }
};

using Rule = double (*)(Node&);

/// An input (without a rule), a rule or an effect; one cache line.
struct alignas(64) Node {
    double value;
    Rule rule;
    union {
        Edge* inputs;
        Node* nextFree;
    };
    Edge* readers;
    Edge* lastReader;
    State state;
    bool isEffect;
    Capture captures[2];
};

static_assert(sizeof(Node) == 64, "a node fills one cache line");

/// Slabs that are kept for the whole program, and a list of what has been given back.
template <class Item, Item* Item::*nextFree>
class Pool {
public:
    Item* take() {
        if (Item* item = free_) {
            free_ = item->*nextFree;
            return item;
        }
        if (unused_ == end_) advance();
        return unused_++;
    }

    /// Gives back a chain that is already linked as the list of free items is, so that it is taken again in the same order.
    void giveBack(Item* first, Item* last) {
        last->*nextFree = free_;
        free_ = first;
    }

    /// Starts over in order of addresses. Nothing may be in use.
    void rewind() {
        free_ = unused_ = end_ = nullptr;
        used_ = 0;
    }

private:
    static constexpr std::size_t slabSize = 4096;

    [[gnu::noinline]] void advance() {
        if (used_ == slabs_.size()) {
            void* slab = std::aligned_alloc(64, slabSize * sizeof(Item));
            if (!slab) std::abort();
            slabs_.push_back(static_cast<Item*>(slab));
        }
        unused_ = slabs_[used_++];
        end_ = unused_ + slabSize;
    }

    Item* free_ = nullptr;
    Item* unused_ = nullptr;
    Item* end_ = nullptr;
    std::vector<Item*> slabs_;
    std::size_t used_ = 0;
};

/// The edge of a read, and what is left of the inputs that have not been read again.
struct Step {
    Edge* edge;
    Edge* rest;
};

class Engine {
public:
    /// Rules and effects run so far.
    std::uint64_t evaluations = 0;

    Node& input(double value) { return make(value, nullptr, State::clean, false, {}, {}); }

    /// A cached rule; runs when it is read. Its first value differs from none at all.
    Node& rule(Rule rule, Capture first = {}, Capture second = {}) {
        return make(std::numeric_limits<double>::quiet_NaN(), rule, State::dirty, false, first, second);
    }

    /// Runs at once, and at the end of each outermost batch that changes what it has read.
    void effect(Rule rule, Capture first = {}, Capture second = {}) {
        run(make(0, rule, State::dirty, true, first, second));
    }

    /// Reads without depending on the node.
    double peek(Node& node) {
        if (node.state != State::clean) refresh(node);
        return node.value;
    }

    template <class Body>
    void batch(Body body) {
        ++depth_;
        body();
        if (--depth_ == 0 && !queue_.empty()) flush();
    }

    /// Within a batch only: the effects run at its end.
    void write(Node& input, double value) {
        if (input.value == value) return;
        input.value = value;
        mark(input);
    }

    /// Makes the layout of the next graph independent of earlier ones. No node may be left.
    void rewind() {
        nodes_.rewind();
        edges_.rewind();
    }

private:
    friend class Scope;
    friend class Reads;

    Node& make(double value, Rule rule, State state, bool isEffect, Capture first, Capture second) {
        Node* node = new (nodes_.take()) Node{value, rule, {nullptr}, nullptr, nullptr, state, isEffect, {first, second}};
        owned_.push_back(node);
        return *node;
    }

    /// Direct readers become dirty, further ones pending.
    void mark(Node& input) {
        for (Edge* edge = input.readers; edge; edge = edge->nextReader) {
            Node& reader = *edge->reader;
            const State before = reader.state;
            reader.state = State::dirty;
            if (before != State::clean) continue;
            if (reader.isEffect) {
                queue_.push_back(&reader);
            } else if (reader.readers) {
                markPending(reader.readers);
            }
        }
    }

    /// Depth first; behind what is marked already everything is.
    void markPending(Edge* edge) {
        for (;;) {
            Node& reader = *edge->reader;
            Edge* next = edge->nextReader;
            if (reader.state == State::clean) {
                reader.state = State::pending;
                if (reader.isEffect) {
                    queue_.push_back(&reader);
                } else if (reader.readers) {
                    if (next) path_.push_back(next);
                    edge = reader.readers;
                    continue;
                }
            }
            if (!next) {
                if (path_.empty()) return;
                next = path_.back();
                path_.pop_back();
            }
            edge = next;
        }
    }

    [[gnu::noinline]] void flush() {
        for (std::size_t i = 0; i < queue_.size(); ++i) {
            Node& effect = *queue_[i];
            if (isStale(effect)) run(effect);
        }
        queue_.clear();
    }

    [[gnu::noinline]] void refresh(Node& node) {
        if (isStale(node)) update(node);
    }

    bool isStale(Node& node) { return node.state == State::dirty || hasChangedInput(node); }

    /// Brings the inputs of a pending node up to date, in their order, until one has changed. If none has, the node becomes
    /// clean. Iterative, so that deep graphs need no stack.
    bool hasChangedInput(Node& root) {
        Node* node = &root;
        Edge* edge = root.inputs;
        for (std::size_t depth = 0;;) {
            Node& input = *edge->input;
            if (input.state == State::pending) {
                // The way back from a node with one reader is known.
                if (input.readers->nextReader) path_.push_back(edge);
                ++depth;
                node = &input;
                edge = input.inputs;
                continue;
            }
            // To update an input can make the node dirty even if that input stays the same: through others that it pulls.
            bool isStale = input.state == State::dirty && (update(input) || node->state == State::dirty);
            while (isStale || !edge->nextInput) {
                if (!isStale) node->state = State::clean;
                if (depth-- == 0) return isStale;
                isStale = isStale && update(*node);
                edge = node->readers;
                if (edge->nextReader) {
                    edge = path_.back();
                    path_.pop_back();
                }
                node = edge->reader;
                isStale = isStale || node->state == State::dirty;
            }
            edge = edge->nextInput;
        }
    }

    /// Whether the value has changed; if so, the other readers need not look through their inputs any more.
    bool update(Node& node) {
        const double value = run(node);
        if (value == node.value) return false;
        node.value = value;
        for (Edge* edge = node.readers; edge; edge = edge->nextReader) {
            if (edge->reader->state == State::pending) edge->reader->state = State::dirty;
        }
        return true;
    }

    double run(Node& node) {
        node.state = State::clean;
        ++evaluations;
        return node.rule(node);
    }

    /// A read that is not the one that came next in the run before: puts its edge where `next` points.
    [[gnu::noinline]] Step link(Node& input, Node& reader, Edge** next, std::uint32_t position, Edge* rest) {
        if (*next) {
            rest = *next;
            for (Edge* edge = rest; edge; edge = edge->nextInput) edge->position = unread;
        }
        if (rest && rest->input == &input) {
            Edge* edge = rest;
            rest = edge->nextInput;
            edge->nextInput = nullptr;
            edge->position = position;
            return {*next = edge, rest};
        }
        Edge* newest = input.lastReader;
        Edge* edge = new (edges_.take()) Edge{&input, nullptr, &reader, nullptr, newest, position};
        (newest ? newest->nextReader : input.readers) = edge;
        input.lastReader = edge;
        return {*next = edge, rest};
    }

    /// Takes edges from a reader's list, to its end, out of the lists of their inputs.
    [[gnu::noinline]] void unlink(Edge* first) {
        Edge* last = first;
        for (Edge* edge = first; edge; edge = edge->nextInput) {
            Edge* next = edge->nextReader;
            Edge* previous = edge->previousReader;
            (next ? next->previousReader : edge->input->lastReader) = previous;
            (previous ? previous->nextReader : edge->input->readers) = next;
            last = edge;
        }
        edges_.giveBack(first, last);
    }

    /// Newest first, so that nodes go before what they read and are taken again in the order they were made in.
    void dispose(std::size_t kept) {
        while (owned_.size() > kept) {
            Node* node = owned_.back();
            owned_.pop_back();
            if (node->inputs) unlink(node->inputs);
            nodes_.giveBack(node, node);
        }
    }

    static constexpr std::uint32_t unread = std::numeric_limits<std::uint32_t>::max();

    /// Where to go on: in marking the next readers, in pulling the way down to the present node.
    std::vector<Edge*> path_;
    std::vector<Node*> queue_;
    int depth_ = 0;
    Pool<Node, &Node::nextFree> nodes_;
    Pool<Edge, &Edge::nextInput> edges_;
    std::vector<Node*> owned_;
};

inline Engine engine;

/// The reads of one run of a rule or an effect, which makes one of these first. Nothing outside knows its address, so that
/// it stays in registers; what is seldom needed is marked as such, or a running sum would be spilled around it.
class Reads {
public:
    explicit Reads(Node& reader) : reader_(&reader), next_(&reader.inputs) {}

    ~Reads() {
        if (__builtin_expect(*next_ != nullptr, false)) {
            engine.unlink(*next_);
            *next_ = nullptr;
        } else if (__builtin_expect(rest_ != nullptr, false)) {
            engine.unlink(rest_);
        }
    }

    Reads(const Reads&) = delete;
    Reads& operator=(const Reads&) = delete;

    /// The up-to-date value of a node, on which the reader depends from now on.
    [[gnu::always_inline]] double operator[](Node& input) {
        if (__builtin_expect(input.state != State::clean, false)) engine.refresh(input);
        Edge* next = *next_;
        if (next && next->input == &input) {
            ++position_;
            next_ = &next->nextInput;
        } else if (__builtin_expect(!hasRead(input), false)) {
            const Step step = engine.link(input, *reader_, next_, ++position_, rest_);
            next_ = &step.edge->nextInput;
            rest_ = step.rest;
        }
        return input.value;
    }

    [[gnu::always_inline]] double operator[](const Capture& input) { return (*this)[*input.node]; }

private:
    /// Looks at the newest edge only. Another one is at worst a second edge between the two, which does no harm.
    bool hasRead(const Node& input) const {
        const Edge* newest = input.lastReader;
        return newest && newest->reader == reader_ && newest->position <= position_;
    }

    Node* reader_;
    /// Where the edge of the next read is, if the order stays the same.
    Edge** next_;
    /// Of the edge read last.
    std::uint32_t position_ = 0;
    /// Since the first read that differed from the run before: the inputs of that run that have not been read again.
    Edge* rest_ = nullptr;
};

/// Owns the nodes made while it exists. Scopes nest, so that each is no more than a place in the list of all nodes; no node
/// may depend on one of an inner scope.
class Scope {
public:
    Scope() : kept_(engine.owned_.size()) {}
    ~Scope() { engine.dispose(kept_); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

private:
    std::size_t kept_;
};

/// One write in a batch of its own.
inline void set(Node& input, double value) {
    engine.batch([&] { engine.write(input, value); });
}

}  // namespace reactive

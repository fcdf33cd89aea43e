/// libnats computes the ends of its waits on the wall clock. When somebody sets that clock, a wait of 5 ms can take
/// hours. A program that links this target gives libnats, and no other code, a wall clock that nobody sets.
#pragma once

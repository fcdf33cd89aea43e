#pragma once
// What links this target with `--wrap` (see `oneThread` in Package.swift) counts references without atomic operations.

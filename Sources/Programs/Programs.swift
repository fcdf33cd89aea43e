// No code: this target depends on all programs, so that one build compiles them side by side on all processors.

#pragma once

/// The commit that `Scripts/release` has built; NULL in other builds.
const char *_Nullable agd_commit(void);

#pragma once

/// The words that the system has passed to `main`, with the program's name, ended by NULL. NULL if there are none.
char *_Nullable *_Nullable arguments_of_main(void);

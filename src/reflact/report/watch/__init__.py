"""`reflact status --watch` on a terminal: many runs, one of them in detail, driven from the keyboard."""

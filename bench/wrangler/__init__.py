"""The real wrangler on the emulator: its commands, and projects taken over from it."""

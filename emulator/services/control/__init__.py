"""The emulator's own routes below `/_emulator/`: journal, faults, clock, latency, state, reset."""

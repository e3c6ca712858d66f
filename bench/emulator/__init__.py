"""How fast the emulator answers."""

"""The emulator as tests and programs ask it, and a judge of its answers."""

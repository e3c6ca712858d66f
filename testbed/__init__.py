"""What tests and the programs of `bench/` run things on: emulated accounts, projects on the engine, real clients."""

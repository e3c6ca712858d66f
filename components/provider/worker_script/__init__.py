"""WorkerScript: a Worker with its modules, bindings, Durable Object classes and containers."""

"""Programs that measure: nothing here is a test, and nothing of the package imports it."""

"""A headless Chromium."""

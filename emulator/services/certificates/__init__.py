"""Certificate packs of a zone, universal and ordered; an order becomes active by the emulator's clock."""

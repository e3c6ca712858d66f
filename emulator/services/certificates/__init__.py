"""Advanced certificate packs of a zone; they become active by themselves, by the emulator's clock."""

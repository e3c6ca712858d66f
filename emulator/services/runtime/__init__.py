"""The runtime's control routes: what runs, and scheduled handlers on demand."""

"""Workers: scripts, their versions and what is live; the services beside this one are other views of the same state."""

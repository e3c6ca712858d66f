"""workerd itself: the program, the configurations it is started with, and its processes."""

"""Scripts that let a shell complete the command, made from its parsers: nothing is run when somebody presses Tab."""

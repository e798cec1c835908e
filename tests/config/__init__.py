"""The configuration: two files and the environment, their errors, and what a run makes of them."""

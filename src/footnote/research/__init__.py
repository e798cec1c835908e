"""Research: a plan, readers for its items side by side, and a report in which every statement was checked."""

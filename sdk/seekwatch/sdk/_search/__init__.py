"""Web search APIs as data, and how their answers are read."""

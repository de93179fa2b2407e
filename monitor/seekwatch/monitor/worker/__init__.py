"""The worker: one loop that reads, assembles, scores and commits, and what it holds and tells."""

"""From a cut to its scorecard: for the worker, and for files without a log."""

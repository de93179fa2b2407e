"""How each instrumentation writes spans, one module each, and the order in which they claim."""

"""How the models that ship with the scorers are trained: deterministic, from labelled sets."""

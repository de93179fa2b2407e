"""Reading text the way the scorers need it: folding, words, constraints, names, claims, quotes."""

"""Models that judge what rules cannot: sampled, budgeted, archived, and apart from the scorers."""

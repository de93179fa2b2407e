"""What the scorers ask of a source: its kind, its age, whether it is a copy."""

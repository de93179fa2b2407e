"""Scorecards in a terminal."""

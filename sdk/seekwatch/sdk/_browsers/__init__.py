"""Browsers that the agent drives itself: what they load is told as fetches are."""

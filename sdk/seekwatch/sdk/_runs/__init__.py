"""Runs of the agent: said by its code, found at its entrypoint, or decorated."""

"""APIs that fetch pages for the agent: told as fetches of the pages, not of the APIs."""

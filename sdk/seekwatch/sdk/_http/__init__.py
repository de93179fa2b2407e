"""One HTTP call of the agent: noted on its thread, told on the finisher's."""

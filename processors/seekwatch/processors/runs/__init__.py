"""What is said of a whole run beside the axes: outcome, conduct, cost, time, work, truth."""

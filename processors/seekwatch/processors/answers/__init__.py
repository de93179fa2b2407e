"""What an answer states and which sources it names for that."""

"""What a question asks for, as far as its wording tells."""

"""What may leave the process: secrets are masked, content is withheld where asked."""

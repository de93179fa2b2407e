"""What an examination looks at; one module a subject."""

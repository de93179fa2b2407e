"""From settings to a running process: what each verb is made of, its start and its end."""

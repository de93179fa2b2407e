"""The labelled sets, one module each: how the set is read, which scorer it asks, what is measured.

A module has the set's name and a `measure(directory) -> list[Row]`. It calls what the worker calls.
"""

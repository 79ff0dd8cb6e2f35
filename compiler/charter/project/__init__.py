"""Reads the files of a project, and runs the pipeline from text to core, which is cached."""

"""The files of a project: sources on disk, the user's cache, and the pipeline from text to core."""

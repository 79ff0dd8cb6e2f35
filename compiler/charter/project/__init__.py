"""The files of a project: sources on disk, and the pipeline from text to core, which is cached."""

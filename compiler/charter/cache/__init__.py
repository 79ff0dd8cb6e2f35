"""The cache of the compiler in the folder of the user."""

"""Groups the checks of a run that need no expected answer."""

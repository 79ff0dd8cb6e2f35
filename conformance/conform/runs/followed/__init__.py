"""Groups what a run asks where its target hides state."""

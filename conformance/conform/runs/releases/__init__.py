"""Groups what judges several releases of a target, and holds them side by side."""

"""Groups what a run found: findings, limits of the target, known findings, failures."""

"""Groups what the commands say of several releases of a target."""

"""The fast explorer: an instance compiled to native code, searched level by level."""

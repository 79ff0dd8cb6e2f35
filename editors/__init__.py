"""What editors need besides the server: grammars, and the extension for VS Code."""

"""Pages of documents, and their text in Markdown and HTML."""

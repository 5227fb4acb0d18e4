"""The web server: LiveKit's token endpoint, a built page, and the documents that pages read over HTTP."""

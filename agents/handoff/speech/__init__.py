"""A spoken call: audio in and out, the user's transcripts, push-to-talk, and a tone while the user waits."""

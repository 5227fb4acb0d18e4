"""What a guest's line means: wishes, questions, small talk, and what has to be asked back."""

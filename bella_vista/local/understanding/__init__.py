"""Understanding of a guest's line: wishes, questions, small talk, and questions to ask back."""

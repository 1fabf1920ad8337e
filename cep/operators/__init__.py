"""The kinds of rules: what each needs, how it runs, and what it keeps."""

"""The kinds of rules, one module or folder each: what each needs, how it runs, and what it keeps."""

"""The page, on the job's HTTP port: what is, for people who watch, and what they do about it.

static_files   style, scripts and pictures, under addresses with their digests
headers        what browsers may do with an answer
rendering      templates, and how values look in them
live           new alerts, sent to browsers as they come
"""

"""Who may do what at the job's port: tokens of job.toml, and what a request with one of them may do.

callers     a caller: the name of a token with its scopes, or somebody on this machine without one
tokens      the tokens, held as digests; who shows which
attempts    wrong tokens are counted by client, and there is an end to them
policy      what an address asks for; whether a request may do something, or the refusal
guarding    requests of Starlette as the policy sees them
"""

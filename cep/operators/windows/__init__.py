"""`over`: rules over windows of a key's events. What they mean is in `cep.reference.windows`."""

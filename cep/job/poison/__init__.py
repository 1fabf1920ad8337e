"""Events that end every process that works on them: looked for, and left out."""

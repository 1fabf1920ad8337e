"""Packs over events in this process, without a JVM: for `cep eval` and `cep test`, and for `import cep`.

engines      the engine of the job and the reference, behind one shape
rows         events given one by one
listed       a list of events, run to the end
sources      a stream with what is there of it
following    an engine beside which another one follows the runs that a trace asks for
replay       files, in step by event time or in the batches of a job
report       what became of the events
timelines    test blocks; `observing` tells what happened in them
"""

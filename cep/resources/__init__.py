"""Resources that a batch may look up besides its events: one value, given to whatever looks up.

resource     the value, and the protocol of a kind of resource
standing     sets of standing queries
searches     text searches of rules' conditions
"""

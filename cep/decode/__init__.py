"""Bytes of a feed -> events of a stream, by column, and dead letters for what is no event.

    decoder(stream, feed) -> Decoder          for the blocks and tables of one feed
    decode_values(stream, rows) -> Decoded    events that are JSON values already (`--cases`)
    decode_typed(stream, rows) -> Decoded     events in the language's own values (test blocks)

What is malformed does not depend on how a file was cut into blocks, nor on a line's neighbours.
"""

from cep.decode.blocks import Decoder, decoder
from cep.decode.formats import FeedFormat
from cep.decode.letters import DeadLetter, Decoded
from cep.decode.values import decode_typed, decode_values

__all__ = ["DeadLetter", "Decoded", "Decoder", "FeedFormat", "decode_typed", "decode_values", "decoder"]

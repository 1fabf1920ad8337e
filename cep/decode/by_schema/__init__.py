"""Values of records that are read by a schema: Avro and Protobuf.

    avro_schema          the text of a schema to its nodes
    avro_resolution      what was written by one schema, as another one and a stream's types read it: a plan
    avro_values          bytes to values by a plan
    protobuf_schema      descriptors of messages from a file
    protobuf_values      bytes to values of a message
    codec                what the readers need to know of a schema, and Arrow columns of values
    codecs               those of Avro and of Protobuf
    schema_files         schemas from files, Protobuf compiled by protoc
    registry             the client of a schema registry
    registered           the codecs of a feed whose records have ids of schemas
    opened               the codecs of a feed
    reader               the values of some records as rows of a stream

What is malformed is said here, as `cep.decode.parquet_rows` says of columns what fits a stream's field.
"""

"""Records of Avro and Protobuf into columns, compiled: whatever is not usual is handed back.

    layout      arrays that travel together, numbers of columns, operations and entries
    numbers     varints and fixed numbers of bytes
    puts        a value into the row of its column
    avro        records by a program
    protobuf    messages by tables of their fields

What is taken has the values that `avro_values` and `protobuf_values` give; what they refuse is not taken.
"""

"""Lines of JSON and records of CSV to columns, in the subset of Python that numba compiles.

The kernel reads what is usual and hands back every line in which anything is not: `json_lines` and
`csv_records` of `cep.decode` read those, give their reasons, and are the meaning of all. What the kernel
takes, they would take, too, with the same values. It runs compiled only (`cep.decode.compiled`): its other
form are those readers.

    intrinsics    bytes of a block, many at a time, as the processor compares them
    layout        the arrays that travel together
    digits        decimal digits to whole numbers, eight at a time
    doubles       numbers to doubles, exactly
    times         ISO timestamps and numbers of epochs to nanoseconds
    strings       texts, copied while their end is looked for
    keys          what stands between two values, remembered from line to line
    skipping      values that nobody reads
    values        one value into its column, as JSON and CSV write it alike
    json_values   one value of JSON: in quotes, null, nested
    rows          one line of JSON into its row
    records       one record of CSV into its row
    lines         the lines of a block, found and put together
"""

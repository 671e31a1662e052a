"""The side that plans, starts contenders, keeps result lines and writes the report."""

"""One module per contender; each names its class ``ENGINE``.

A module imports its contender when it is itself imported, in the contender's environment.
"""

"""What runs inside a contender's process: records, meters, and one trial at a time.

Standard library only, so that it runs in every contender's locked environment.
"""

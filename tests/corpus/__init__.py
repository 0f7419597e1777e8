"""Programs, one for each construct of the language: functions `case_*` of an array of three numbers, to one number.

They are run as they are and inside loops, branches, stores, helpers and second derivatives: tests/whole/test_corpus.py.
"""

"""The lab in Python, for programs and notebooks: what `import wblab` offers, described in docs/reference/python.md.

Runs and studies are read back, or made, by a few functions. What they return shows itself in a notebook and prints
itself elsewhere. Tables are pandas DataFrames, whose columns name their units (`_s`, `_bytes`, `_bps`: bytes/s);
pictures are Matplotlib figures. Errors are a `WblabError`: one line that names what is wrong and the next step.
"""

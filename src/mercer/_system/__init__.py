"""What an application needs of the machine it runs on; no mathematics, and nothing is fitted.

Files that are there whole or not at all (`files`), what the header of an array promises (`npy`),
text that a spreadsheet would run (`formulas`), processes that end with their parent (`processes`),
a Dask scheduler (`cluster`), what results were made with (`environment`), what to install for more
(`extras`).
"""

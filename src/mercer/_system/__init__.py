"""What an application needs of its machine and of its language; nothing is fitted here.

Files that are there whole or not at all (`files`), what the header of an array promises (`npy`),
text that a spreadsheet would run (`formulas`), processes that end with their parent (`processes`),
a Dask scheduler (`cluster`), what results were made with (`environment`), what to install for more
(`extras`); how numbers and names are written for people (`words`), and the words that the terminal
and the pages share (`vocabulary`).
"""

"""A file, or standard input → a frame of cells as they stand there, and notes for the user.

``_read`` sees the format from the contents and hands the bytes of ``_source`` to the reader of that
format.  Every reader checks the size before it builds anything, and unpickles nothing.  What cannot
be read is refused in one sentence that names the file and, in text, the line.
"""

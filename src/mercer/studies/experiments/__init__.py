"""What jobs compute: the experiments behind the tables, and pieces that several papers share.

The files of :mod:`mercer.studies.papers` hold data; where what fills their cells is long or shared,
it stands here.
"""

"""Charts as SVG, drawn by hand, so that a page needs no drawing library.

A panel of points, lines, bars and maps becomes a figure: `_figures` puts together the frame
(`_axes`, on the scales of `_scales`), what stands on it (`_layers`, with the shapes of `_glyphs`)
and a legend, all as elements of `_svg`. Average ranks (`_rank_chart`) and points with classes that
a script makes interactive (`_scatter_figure`) have charts of their own. Nothing here knows of
comparisons or studies.
"""
